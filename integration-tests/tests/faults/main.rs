//! Faults: what an operator does when something goes wrong, one test for each row of `faults.tsv`. In `simulated` they
//! happen on a server inside the process, in virtual time; in `both` on that one and on a real kube-apiserver, or on
//! the latter alone if only it can have the fault; the faults of the sample's process are in the sample's tests.

mod both;
mod declared;
mod fixed;
mod heals;
mod order;
mod replica;
mod seams;
mod simulated;
mod upgrades;
