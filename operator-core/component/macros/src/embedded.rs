//! The code that embeds the files of a directory.

use std::path::{Path, PathBuf};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::LitStr;

use crate::{
    check,
    directory::{self, File},
};

/// What a directory has.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Manifests,
    Templates,
}

impl Kind {
    fn name(self) -> Ident {
        let name = match self {
            Self::Manifests => "Manifests",
            Self::Templates => "Templates",
        };
        Ident::new(name, Span::call_site())
    }

    fn mistake(self, file: &File) -> Option<String> {
        match self {
            Self::Manifests => check::manifest(file),
            Self::Templates => check::template(file),
        }
    }
}

/// The value with the files of the directory that the argument names, or an error at the argument for each mistake.
pub(crate) fn expand(kind: Kind, argument: TokenStream) -> TokenStream {
    let directory = match syn::parse2::<LitStr>(argument) {
        Ok(directory) => directory,
        Err(error) => {
            let message = "expected the path of a directory in quotes, such as \"manifests/web\"";
            return syn::Error::new(error.span(), message).into_compile_error();
        }
    };
    // Cargo sets it for each package that it builds.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    generate(kind, &package, &directory)
}

fn generate(kind: Kind, package: &Path, directory: &LitStr) -> TokenStream {
    let below = directory.value();
    let (files, mistakes) = match directory::files(package, &below) {
        Ok(files) => {
            let mistakes: Vec<_> = files.iter().filter_map(|file| kind.mistake(file)).collect();
            (files, mistakes.into_iter().map(|what| format!("{below}/{what}")).collect())
        }
        Err(mistake) => (Vec::new(), vec![mistake]),
    };
    let name = kind.name();
    if !mistakes.is_empty() {
        let errors = mistakes.iter().map(|what| syn::Error::new(directory.span(), what).into_compile_error());
        // The value stays. Its absence would cause further errors.
        return quote!({ #(#errors;)* ::operator_component::generator::#name::embedded(&[]) });
    }
    let files = files.iter().map(|file| {
        let path = &file.path;
        let below = format!("/{below}/{path}");
        quote!((#path, ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #below))))
    });
    quote!(::operator_component::generator::#name::embedded(&[#(#files),*]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn code(kind: Kind, files: &[(&str, &str)]) -> String {
        let package = tempfile::tempdir().expect("a folder");
        let folder = package.path().join("web");
        fs::create_dir(&folder).expect("a folder");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a file");
        }
        let code = generate(kind, package.path(), &LitStr::new("web", Span::call_site()));
        syn::parse2::<syn::Expr>(code.clone()).expect("it is an expression, in spite of mistakes");
        code.to_string()
    }

    fn text(code: &TokenStream) -> String {
        code.to_string()
    }

    #[test]
    fn the_code_includes_each_file_by_its_path_in_the_package() {
        let file = |name: &str| {
            let below = format!("/web/{name}");
            quote!((#name, ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #below))))
        };
        let (a, b) = (file("a.yaml"), file("b.yml"));
        let files = [("b.yml", "b: 1"), ("a.yaml", "a: 1"), ("README.md", "")];
        assert_eq!(
            code(Kind::Manifests, &files),
            text(&quote!(::operator_component::generator::Manifests::embedded(&[#a, #b])))
        );
        assert_eq!(
            code(Kind::Templates, &files),
            text(&quote!(::operator_component::generator::Templates::embedded(&[#a, #b])))
        );
    }

    #[test]
    fn all_mistakes_are_reported_with_file_and_line() {
        let code = code(Kind::Templates, &[("a.yaml", "a: {{ b"), ("b.yaml", ""), ("c.yaml", "\n{% if %}")]);
        assert_eq!(code.matches("compile_error").count(), 2, "{code}");
        for place in ["web/a.yaml, line 1: syntax error", "web/c.yaml, line 2: syntax error"] {
            assert!(code.contains(place), "{code}");
        }
    }

    #[test]
    fn a_manifest_is_not_a_template_nor_the_reverse() {
        let template = [("a.yaml", "a: 1\n{% if b %}\nc: 1\n{% endif %}\n")];
        assert!(code(Kind::Manifests, &template).contains("web/a.yaml, line 2: invalid YAML"));
        assert!(!code(Kind::Templates, &template).contains("compile_error"));
    }

    #[test]
    fn a_missing_directory_and_another_argument_are_mistakes() {
        let package = tempfile::tempdir().expect("a folder");
        let code = generate(Kind::Manifests, package.path(), &LitStr::new("absent", Span::call_site()));
        assert!(text(&code).contains("`absent` can't be read"), "{code}");
        for argument in [quote!(), quote!(web), quote!("a", "b"), quote!(1)] {
            let code = text(&expand(Kind::Templates, argument));
            assert!(code.contains("expected the path of a directory in quotes"), "{code}");
        }
    }
}
