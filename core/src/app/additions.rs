//! What the current version of the bundle has and the one before it has not.
//!
//! The encoding does not describe itself, so a field cannot be added to a struct of an earlier
//! version. A version adds fields beside it: here they follow the app, each with its place. In
//! their structs they are skipped by serde, and have defaults. With the next version they move into
//! their structs, and this file begins anew.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{App, Audit, AuditTable, MiddlewareAction, ValueTemplate};

/// What follows the app.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Additions {
    /// In the order of their places.
    audits: Vec<AuditAddition>,
}

/// What is added to an `audit`.
#[derive(Serialize, Deserialize)]
struct AuditAddition {
    /// Index into [`App::tools`].
    tool: u32,
    /// Index into the tool's middleware.
    entry: u32,
    tenant: Option<ValueTemplate>,
    required: bool,
    has_all_columns: bool,
    in_transaction: bool,
}

impl Additions {
    /// What an app has of it. Nothing: the app is as in the version before.
    pub(super) fn of(app: &App) -> Self {
        let mut audits = Vec::new();
        for (tool, declared) in (0..).zip(&app.tools) {
            for (entry, middleware) in (0..).zip(&declared.middleware) {
                let MiddlewareAction::Audit(Audit { tenant, required, table, .. }) = &middleware.action else { continue };
                let has_all_columns = table.as_ref().is_some_and(|table| table.has_all_columns);
                let in_transaction = table.as_ref().is_some_and(|table| table.in_transaction);
                if tenant.is_some() || *required || has_all_columns || in_transaction {
                    let (tenant, required) = (tenant.clone(), *required);
                    audits.push(AuditAddition { tool, entry, tenant, required, has_all_columns, in_transaction });
                }
            }
        }
        Self { audits }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.audits.is_empty()
    }

    /// Gives an app what it has of it; `None` where a place leads nowhere.
    pub(super) fn apply(self, app: &mut App) -> Option<()> {
        for AuditAddition { tool, entry, tenant, required, has_all_columns, in_transaction } in self.audits {
            let middleware = app.tools.get_mut(tool as usize)?.middleware.get_mut(entry as usize)?;
            let MiddlewareAction::Audit(audit) = &mut middleware.action else { return None };
            (audit.tenant, audit.required) = (tenant, required);
            match &mut audit.table {
                Some(AuditTable { has_all_columns: all, in_transaction: within, .. }) => {
                    (*all, *within) = (has_all_columns, in_transaction)
                }
                // Nobody could tell whether the entry was written.
                None if required || has_all_columns || in_transaction => return None,
                None => {}
            }
        }
        Some(())
    }
}
