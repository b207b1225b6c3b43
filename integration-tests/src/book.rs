//! Pages of the book whose examples are compiled as tests of documentation.

macro_rules! pages {
    ($($page:ident: $path:literal,)*) => { $(#[doc = include_str!(concat!("../../docs/src/", $path))] struct $page;)* };
}

pages! {
    Patterns: "patterns.md",
    Questions: "faq.md",
    SeveralClusters: "several-clusters.md",
}
