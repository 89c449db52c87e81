//! The tests of the bundler, a module each.

mod built;
mod clients;
mod command;
mod diagnostics;
mod fallback;
mod hints;
mod hostile;
mod http;
mod hyperdrive;
mod link;
mod link_diagnostics;
mod load;
mod malformed;
mod mysql;
mod npm_imports;
mod reference;
mod rendered;
mod sample;
mod session;
mod skills;
mod stable;
mod statement;
mod support;
mod surface;
mod tenant;
mod types;
