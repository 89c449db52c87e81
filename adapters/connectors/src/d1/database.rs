//! A database of D1, and the ways to it.

use millrace_core::{
    Result,
    ports::{LocalFuture, Query},
};

use super::{reply::Reply, statement::Prepared};
use crate::shared::{Retry, StatementFailure};

/// A way to a database of D1. Futures are boxed, and databases not generic: a Worker has two ways,
/// and one copy of what is around them.
pub trait Transport {
    /// Whether a parameter may be bytes; else they go as text, in hexadecimal.
    fn takes_bytes(&self) -> bool;

    /// Sends a statement, once, and waits for the answer until the query's deadline.
    ///
    /// # Errors
    /// Why there is no answer, and what that means for another attempt.
    fn send<'a>(&'a self, prepared: &'a Prepared<'_>, query: &'a Query<'_>) -> LocalFuture<'a, Result<Reply, StatementFailure>>;

    /// Sends several statements as one transaction, once, and waits for the answers. `author` is
    /// the index of the one that the author wrote, to which places in errors belong.
    ///
    /// # Errors
    /// As [`send`](Self::send). Then none of them took effect, unless that is not known.
    fn send_batch<'a>(
        &'a self,
        batch: &'a [Prepared<'_>],
        author: usize,
        query: &'a Query<'_>,
    ) -> LocalFuture<'a, Result<Vec<Reply>, StatementFailure>>;
}

/// A D1 database.
pub struct D1 {
    pub(super) transport: Box<dyn Transport>,
    pub(super) read_only: bool,
    pub(super) retry: Retry,
}
