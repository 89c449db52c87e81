//! `connector: dynamodb` against an implementation of DynamoDB with PartiQL, and against servers
//! that misbehave.

mod app;
mod faults;
mod signing;
mod transactions;
mod values;
