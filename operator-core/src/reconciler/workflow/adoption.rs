//! The adoption policy. It is defined here because a dependent's error contains it.

use std::fmt;

/// Which existing objects a dependent takes over that it hasn't made, if they have the name of an object that it wants.
///
/// Objects that this dependent has made for an earlier incarnation of the primary, or that a former dependent of the
/// controller has made, are taken over under each policy. An object that is taken over is marked, and removed when it
/// is no longer wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// None: the node fails with an error that names the owner of the object.
    #[default]
    Never,
    /// Objects without any sign of an owner: no owner reference, no marks of an operator and no mapping annotations.
    IfUnowned,
    /// Any object with the name. If another object controls it, the API server refuses a second controller.
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
