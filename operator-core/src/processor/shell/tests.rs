//! Tests of the shell, with paused time.
