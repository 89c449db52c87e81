//! What an adapter's `tenant` demands of a call: that the caller has the claim, and that scripts
//! run only statements which the build has judged, with the claim where it belongs.
//!
//! Without the claim an `INSERT` would write a row that is nobody's, so the call is refused.

use alloc::format;

use crate::pipeline::{
    call::run::{Run, Work},
    call::scope::walk,
};
use crate::{
    Error, ErrorKind, Json, Result,
    app::{Adapter, Bind, Execute, Part, Piece, Source, Statement, Tenant},
    value::Value,
};

/// Whose call it is, where the adapter of its tool keeps calls to tenants.
pub(super) fn of<'r>(run: &'r Run<'_>) -> Option<&'r Json> {
    let Work::Database { adapter, .. } = run.work else { return None };
    let tenant = adapter.tenant.as_ref().filter(|_| !run.tool.crosses_tenants)?;
    walk(run.auth.as_ref()?, &tenant.claim.path).filter(|claim| !claim.is_null())
}

/// Looks whether a call may run the statements of its tool.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) where a statement binds the claim and the caller has none.
pub(super) fn admit(run: &Run<'_>, adapter: &Adapter, execute: &Execute) -> Result<()> {
    let Some(tenant) = adapter.tenant.as_ref().filter(|_| !run.tool.crosses_tenants) else { return Ok(()) };
    if execute.statements().any(|statement| binds(statement, &tenant.claim)) {
        claimed(run.auth.as_ref(), adapter, tenant).map(drop)
    } else {
        Ok(())
    }
}

/// Looks whether a call may run a statement of one of its scripts.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) where the build has not judged the statement, the caller does not
/// have the claim, or a parameter that has to be the claim is something else.
pub(super) fn admit_script(run: &Run<'_>, adapter: &Adapter, text: &str, values: &[Value]) -> Result<()> {
    match adapter.tenant.as_ref().filter(|_| !run.tool.crosses_tenants) {
        Some(tenant) => script(run.auth.as_ref(), adapter, tenant, text, values),
        None => Ok(()),
    }
}

fn script(auth: Option<&Json>, adapter: &Adapter, tenant: &Tenant, text: &str, values: &[Value]) -> Result<()> {
    let denied = |why| {
        let message = format!("the adapter `{}` keeps each statement to the tenant `{}`, and {why}", adapter.name, tenant.claim);
        Err(Error::new(ErrorKind::Denied, message))
    };
    let Ok(found) = tenant.statements.binary_search_by(|known| known.text.as_str().cmp(text)) else {
        return denied("this one is not written out in a script of the app, where the build could judge it".into());
    };
    let Some(statement) = tenant.statements.get(found).filter(|statement| !statement.claims.is_empty()) else { return Ok(()) };
    let claim = claimed(auth, adapter, tenant)?;
    for number in &statement.claims {
        let value = (*number as usize).checked_sub(1).and_then(|place| values.get(place));
        if !value.is_some_and(|value| is_same(value, claim)) {
            return denied(format!("parameter {number} is something else"));
        }
    }
    Ok(())
}

/// The claim of the caller: a text that is not blank, or a whole number.
fn claimed<'j>(auth: Option<&'j Json>, adapter: &Adapter, tenant: &Tenant) -> Result<&'j Json> {
    let found = auth.and_then(|auth| walk(auth, &tenant.claim.path)).unwrap_or(&Json::Null);
    let why = match found {
        Json::Null => "the caller has no such value",
        Json::String(text) if text.trim().is_empty() => "the caller's value is empty",
        Json::String(text) if text.contains('\0') => "the caller's value has a NUL character",
        Json::String(_) => return Ok(found),
        Json::Number(number) if number.is_i64() || number.is_u64() => return Ok(found),
        _ => "the caller's value is neither a text nor a whole number",
    };
    let message = format!("the adapter `{}` keeps each call to the tenant `{}`, and {why}", adapter.name, tenant.claim);
    Err(Error::new(ErrorKind::Denied, message))
}

fn is_same(value: &Value, claim: &Json) -> bool {
    match (value, claim) {
        (Value::Text(text), Json::String(claim)) => text == claim,
        (Value::I64(value), Json::Number(claim)) => claim.as_i64() == Some(*value),
        (Value::U64(value), Json::Number(claim)) => claim.as_u64() == Some(*value),
        _ => false,
    }
}

fn binds(statement: &Statement, claim: &Source) -> bool {
    statement.parts.iter().any(|part| match part {
        Part::Bind(Bind::Value { source, .. }) | Part::BindEach { source, .. } => source == claim,
        Part::Bind(Bind::Composed(pieces)) => pieces.iter().any(|piece| matches!(piece, Piece::Source(source) if source == claim)),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
