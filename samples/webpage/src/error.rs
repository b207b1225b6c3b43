//! The errors of a page.

use operator_core::{operations, workflow};

/// An error of a page.
#[derive(Debug, thiserror::Error)]
pub enum WebPageError {
    /// The html can't be served. Only a new html helps.
    #[error(
        "the html contains the word \"error\"; this sample refuses such pages, to show what happens then"
    )]
    ErrorInHtml,
    /// A child of a workflow failed.
    #[error(transparent)]
    Workflow(#[from] workflow::Error),
    /// The page was not read from a cluster.
    #[error("the page has no uid")]
    NoUid,
    /// A child's template is not what its type expects.
    #[error("a child's template does not fit its type")]
    Template(#[source] serde_json::Error),
    /// A child can't be written.
    #[error("a child could not be written")]
    Write(#[from] operations::Error),
}
