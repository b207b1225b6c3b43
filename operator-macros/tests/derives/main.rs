//! The derives, as users see them: what the declared things do, and what the compiler says about mistakes.

mod declared;
mod mistakes;
