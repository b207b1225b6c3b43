//! The words of a real server for what can't be changed.

use crate::operations::mend::drift::{is_immutable, says_immutable};

#[test]
fn each_kind_has_its_own_words() {
    for words in [
        "Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable",
        "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template' are forbidden",
        "Forbidden: spec is immutable after creation except resources.requests for bound claims\n@@ -1,6 +1,6 @@\n {",
        "Forbidden: field is immutable when `immutable` is set",
        "Invalid value: {\"Kind\":\"Role\"}: cannot change roleRef",
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`\n@@ -6,7 +6,7 @@",
        "Invalid value: [\"10.0.0.77\"]: may not change once set",
        "Invalid value: \"string\": Value is immutable",
    ] {
        assert!(says_immutable(words), "{words}");
    }
    for words in [
        "Duplicate value: \"http\"",
        "Invalid value: \"immutable: yes\": must be a number",
        "Required value",
        "Invalid value: \"x\": must be one\nfield is immutable",
        "",
    ] {
        assert!(!says_immutable(words), "{words}");
    }
}

/// Another object would be refused as well.
#[test]
fn a_refusal_for_other_reasons_too_is_not_cured_by_another_object() {
    let with = |messages: &[&str]| {
        let mut status = super::refusal(&vec![("spec", "FieldValueInvalid"); messages.len()]);
        for (cause, message) in
            status.details.iter_mut().flat_map(|details| &mut details.causes).zip(messages)
        {
            (*message).clone_into(&mut cause.message);
        }
        status
    };
    assert!(is_immutable(&with(&["a: field is immutable", "b: field is immutable"])));
    assert!(!is_immutable(&with(&["a: field is immutable", "Required value"])));
    assert!(!is_immutable(&with(&[])));
}
