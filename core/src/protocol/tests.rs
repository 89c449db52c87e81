//! The endpoint as a client sees it: requests in, status, code and body out.

mod batch;
mod fakes;
mod feature_tool;
mod features;
mod malformed;
mod matrix;
mod mirrored;
mod rounds;
mod streams;
