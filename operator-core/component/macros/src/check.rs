//! Mistakes that are in the files, whatever they are rendered with.

use granit_parser::Parser;
use minijinja::{Environment, ErrorKind};

use crate::directory::File;

/// The first mistake in a file of YAML.
pub(crate) fn manifest(file: &File) -> Option<String> {
    let error = Parser::new_from_str(&file.text).find_map(Result::err)?;
    Some(format!("{}, line {}: invalid YAML: {}", file.path, error.marker().line(), error.info()))
}

/// The first mistake in a template.
pub(crate) fn template(file: &File) -> Option<String> {
    let error = Environment::empty().add_template(&file.path, &file.text).err()?;
    let line = error.line().unwrap_or(1);
    let what = match (error.kind(), error.detail()) {
        (ErrorKind::SyntaxError, Some(detail)) => format!("syntax error: {detail}"),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    Some(format!("{}, line {line}: {what}", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File { path: "a.yaml".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_manifest_has_to_be_yaml() {
        let sound = ["", "# nothing\n", "a: 1\n---\nb: [1, {c: d}]\n", "a: |\n  text\n", "a: {{ b }: c}\n"];
        for text in sound {
            assert_eq!(manifest(&file(text)), None, "{text}");
        }
        for (text, what) in [
            ("a: 1\nb: [1\n", "a.yaml, line 2: invalid YAML: "),
            ("a: 1\n---\nb: c: d\n", "a.yaml, line 3: invalid YAML: "),
            ("a: b\n c\n  : d\n", "a.yaml, line 3: invalid YAML: "),
            ("a:\n\t- b\n", "a.yaml, line 2: invalid YAML: "),
        ] {
            let found = manifest(&file(text)).unwrap_or_else(|| panic!("no mistake in {text:?}"));
            assert!(found.starts_with(what), "{found}");
        }
    }

    #[test]
    fn a_template_has_to_be_one() {
        let sound = [
            "",
            "a: {{ parameters.a | to_yaml }}\n",
            "{% for a in parameters.all %}\n- {{ a }}\n{% endfor %}\n",
            "{% import '_parts.yaml' as parts %}{{ parts.labels(name) }}",
            "a: {{ lookup('v1', 'Secret', namespace, name) }}",
        ];
        for text in sound {
            assert_eq!(template(&file(text)), None, "{text}");
        }
        for (text, what) in [
            ("a: 1\nb: {{ c\n", "a.yaml, line 2: syntax error: "),
            ("a: 1\n\n{% if c %}\n", "a.yaml, line 3: syntax error: "),
            ("a: {{ c + }}\n", "a.yaml, line 1: syntax error: "),
            ("\n{% unless c %}{% endunless %}", "a.yaml, line 2: syntax error: "),
        ] {
            let found = template(&file(text)).unwrap_or_else(|| panic!("no mistake in {text:?}"));
            assert!(found.starts_with(what), "{found}");
        }
    }
}
