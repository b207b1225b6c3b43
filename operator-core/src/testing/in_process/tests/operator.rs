//! A whole operator on the server, in paused time.
