//! What the outside sees of an operator. No row of JOSDK's list: it ships no HTTP server.

mod http;
