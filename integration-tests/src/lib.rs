//! Fixtures shared by the conformance tests.
