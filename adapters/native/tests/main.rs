//! The tests of what native hosts share.

mod dialer;
mod http_client;
mod public_only;
mod server;
mod server_tls;
