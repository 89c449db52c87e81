//! `connector: http` against servers that record what arrives.

pub(crate) mod addresses;
pub(crate) mod hostile;
mod life;
