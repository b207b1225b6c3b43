//! The policy of adoption. It stands here because a dependent's error names it.

use std::fmt;

/// Which objects a dependent takes over that it hasn't made, where it wants an object of that name.
///
/// What this dependent has made for an earlier incarnation of the primary, or a dependent that the controller has no more, is
/// taken over under each policy. What is taken over is marked, and removed when it isn't wanted any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// None: the node fails with an error that says whose the object is.
    #[default]
    Never,
    /// What says of nobody that it is his: it has no owner, no marks of an operator and no mapping annotations.
    IfUnowned,
    /// Whatever has the name. Where another object controls it, the API server refuses a second controller.
    Always,
}

/// As it is written in a declaration.
impl fmt::Display for Adoption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Adoption::Never",
            Self::IfUnowned => "Adoption::IfUnowned",
            Self::Always => "Adoption::Always",
        })
    }
}
