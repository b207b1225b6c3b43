//! Faults: what an operator does when something goes wrong, one test for each row of `faults.tsv`. In `simulated` they happen to
//! a server inside the process, in virtual time; in `both` to that one and to a real kube-apiserver, or to the latter alone
//! where only it has what goes wrong; the sample's process meets its own in the sample's tests.

mod both;
mod heals;
mod replica;
mod seams;
mod simulated;
