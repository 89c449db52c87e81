//! What plugins say of callers, and the faults of those that are not let in.

use alloc::{boxed::Box, format, string::String};

use crate::{
    Json,
    fault::{Fault, Refusal, Remedy, Stage},
};

/// What a plugin says of a caller.
pub(super) enum Answer {
    /// It knows the caller: the principal, or nobody in particular.
    Knows(Option<Json>),
    /// It knows nothing of what was sent; what to say where nobody else does.
    KnowsNot(Box<Fault>),
    /// The credentials are its own, and not good enough.
    Refuses(Box<Fault>),
}

pub(in crate::pipeline) fn refused(reason: impl Into<String>) -> Box<Fault> {
    let mut fault = Fault::new(Stage::Authenticate, "UNAUTHORIZED", "Unauthorized: the request has no valid credentials.")
        .suggesting("Send valid credentials: without them, every call is refused.")
        .logging(reason);
    fault.refusal = Some(Refusal::Unauthorized);
    Box::new(fault)
}

/// A refusal that is not the caller's fault: nobody can be let in before the operator has acted.
/// The caller is told the same.
pub(super) fn broken(reason: impl Into<String>) -> Box<Fault> {
    let mut fault = refused(reason);
    fault.remedy = Remedy::Operator;
    fault
}

/// The code of credentials that are good, and not enough.
pub(super) const FORBIDDEN: &str = "FORBIDDEN";

/// `credential` is `key` or `token`; `owner` is whose it is.
pub(super) fn forbidden(credential: &str, owner: &str, missing: &[&str], needed: &[String]) -> Box<Fault> {
    let missing = missing.join("`, `");
    let mut fault = Fault::new(Stage::Authenticate, FORBIDDEN, format!("Forbidden: the {credential} lacks the scope `{missing}`."))
        .suggesting(format!("Use a {credential} that has the scope: with this one, every call is refused."))
        .logging(format!("the {credential} of `{owner}` lacks the scope `{missing}`"));
    fault.refusal = Some(Refusal::Forbidden(needed.to_vec()));
    Box::new(fault)
}
