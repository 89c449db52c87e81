//! `connector: mongodb` against a stand-in that MongoDB's own client works with, and against
//! servers that answer as no real one does.

mod app;
mod hostile;
mod life;
mod login;
pub(crate) mod support;
