//! The tests of the script engine, through its port.

mod apis;
mod bent;
mod calls;
mod image;
mod isolation;
mod left_behind;
mod limits;
mod programs;
mod returned;
mod support;
mod web;
