//! Faults: what an operator does when something goes wrong, one test for each row of `faults.tsv`. In `simulated` they happen to
//! a server inside the process, in virtual time; in `real` to a real kube-apiserver; the sample's process meets its own in
//! the sample's tests.

mod real;
mod simulated;
