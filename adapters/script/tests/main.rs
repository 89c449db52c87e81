//! The tests of the script engine, through its port.

mod calls;
mod isolation;
mod limits;
mod support;
