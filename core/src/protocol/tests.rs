//! The endpoint as a client sees it: requests in, status, code and body out.

mod backed;
mod batch;
mod fakes;
mod features;
mod malformed;
mod matrix;
mod mirrored;
mod rounds;
mod streams;
