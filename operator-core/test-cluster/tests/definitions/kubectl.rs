//! What somebody does with the definitions of a project, with kubectl.
//!
//! ```text
//!  files ─ apply -f ─▶ too long for the annotation? ─ yes ─▶ apply --server-side -f
//!                          │ no                                │
//!                          └────────▶ get, wait, explain ◀─────┘
//!  examples and an object of the test: apply, get, diff, describe
//!  wrong objects: apply and create are refused
//! ```
//!
//! Each output is compared, the text of errors, too.

use std::path::{Path, PathBuf};

use serde_json::Value;
use test_cluster::read_crds;

use crate::kubectl::{
    masks::Masks,
    run::{Servers, both, describe},
    script::{Step, feed, run, until},
};

/// What is compared, and what differed.
pub(crate) struct Session {
    servers: Servers,
    masks: Masks,
    namespace: &'static str,
    differences: Vec<String>,
}

impl Session {
    /// A session in a namespace that it makes if there is none.
    pub(crate) fn new(servers: Servers, namespace: &'static str) -> Self {
        let mut session = Self { servers, masks: Masks::new(), namespace, differences: Vec::new() };
        if namespace != "default" {
            session.same(&run(format!("create namespace {namespace}")));
        }
        session
    }

    /// Runs a command on both; returns what the real server has let it print.
    fn same(&mut self, step: &Step) -> String {
        let (real, ours) = both(&self.servers, &self.masks, self.namespace, step).unwrap();
        if real != ours && !step.silent {
            self.differences.push(describe(self.namespace, step, &real, &ours));
        }
        real
    }

    /// Runs a command that succeeds.
    fn done(&mut self, step: &Step) -> String {
        let output = self.same(step);
        assert!(output.lines().any(|line| line.ends_with("= 0")), "kubectl {}: {output}", step.command);
        output
    }

    /// Runs a command that the real server refuses.
    fn refused(&mut self, step: Step) {
        // It goes through fields in no order.
        let step = step.in_any_order();
        let output = self.same(&step);
        let is_refused =
            ["is invalid:", "failed to create typed patch"].iter().any(|why| output.contains(why));
        assert!(is_refused && output.contains("= 1"), "kubectl {}: {output}", step.command);
    }

    /// Applies a file of definitions; returns whether the client could do it.
    pub(crate) fn define(&mut self, file: &Path) -> bool {
        let path = file.display();
        let applied = self.same(&run(format!("apply -f {path}")));
        let by_client = !applied.contains("metadata.annotations: Too long");
        let again = if by_client {
            assert!(applied.contains(" created"), "{path}: {applied}");
            run(format!("apply -f {path}"))
        } else {
            self.done(&run(format!("apply --server-side -f {path}")));
            run(format!("apply --server-side -f {path}"))
        };
        // kubectl gives up where there are no conditions at all yet.
        let wait = format!("wait --for=condition=Established --timeout=60s -f {path}");
        self.done(&until(&wait, "condition met"));
        self.done(&again);
        self.done(&run(format!("get -f {path}")));
        self.done(&run(format!("get -f {path} -o jsonpath={{.spec}}")));
        // Several controllers write the conditions, in any order.
        self.done(&run(format!("get -f {path} -o yaml --show-managed-fields={}", !by_client)).in_any_order());
        for definition in read_crds(file).unwrap() {
            let (names, group) = (definition.spec.names, definition.spec.group);
            let kind = format!("{}.{group}", names.plural);
            // The real server takes a moment to say what it serves.
            self.done(&until(format!("explain {kind} --recursive"), "FIELDS:"));
            self.done(&until(format!("get {kind}"), "No resources found"));
        }
        by_client
    }

    /// Applies an example of the project, and looks at it.
    pub(crate) fn example(&mut self, file: &Path) {
        let from = format!("-f {}", file.display());
        self.done(&run(format!("apply {from} --dry-run=server")));
        self.done(&run(format!("apply {from}")));
        self.done(&run(format!("diff {from}")));
        self.done(&run(format!("get {from} -o wide")));
        self.done(&run(format!("get {from} -o yaml --show-managed-fields")));
        self.done(&run(format!("describe {from}")));
        self.done(&run(format!("apply {from} --server-side --force-conflicts")));
        self.done(&run(format!("apply {from}")));
        self.done(&run(format!("delete {from} --wait=false")));
    }

    /// Applies an object of the test, reads it in each form, and explains its fields.
    pub(crate) fn right(&mut self, kind: &str, object: &Value) {
        let text = object.to_string();
        let name = object["metadata"]["name"].as_str().unwrap();
        self.done(&feed("apply -f -", &text));
        self.done(&feed("apply -f -", &text));
        for form in ["", " -o wide", " -o yaml", " -o json --show-managed-fields", " -o jsonpath={.spec}"] {
            self.done(&run(format!("get {kind} {name}{form}")));
        }
        self.done(&run(format!("describe {kind} {name}")));
        self.done(&run(format!("explain {kind}")));
        self.done(&run(format!("explain {kind}.spec")));
        for field in object["spec"].as_object().unwrap().keys() {
            self.done(&run(format!("explain {kind}.spec.{field}")));
        }
        self.done(&run(format!("label {kind} {name} a=b")));
        self.done(&run(format!("get {kind} -l a=b -o name")));
    }

    /// Tries to create and to apply an object that the real server refuses.
    pub(crate) fn wrong(&mut self, object: &Value) {
        let text = object.to_string();
        self.refused(feed("create -f -", &text));
        self.refused(feed("apply -f -", &text));
        self.refused(feed("apply --server-side -f -", &text));
    }

    /// Fails if something was printed differently.
    pub(crate) fn end(self) {
        let (found, of) = (self.differences.len(), self.namespace);
        assert!(self.differences.is_empty(), "{of}: {found} differences\n{}", self.differences.join("\n"));
    }
}

/// The files below a folder.
pub(crate) fn below(folder: &Path, files: &[&str]) -> Vec<PathBuf> {
    files.iter().map(|file| folder.join(file)).collect()
}
