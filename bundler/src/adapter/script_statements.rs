//! The statements of scripts for adapters with a `tenant`: those that keep to the caller's tenant
//! are noted in the bundle, and no others run.

use millrace_core::app::{Auth, TenantStatement, Tool};

use super::Adapters;
use crate::{compiler::Compiler, links::ScriptStatement, script::AppPart, statement::judge_script};

impl Adapters {
    /// Judges the statements that scripts have written out.
    pub(crate) fn judge_scripts(&mut self, compiler: &mut Compiler<'_>, statements: &[ScriptStatement], tools: &[Tool]) {
        for adapter in &mut self.list {
            let (Some(rule), Some(tenant)) = (self.tenants.get(&adapter.name), &mut adapter.tenant) else { continue };
            let Some(dialect) = millrace_catalogue::find(&adapter.connector).and_then(|known| known.language.dialect()) else {
                continue;
            };
            for ScriptStatement { script, place } in statements.iter().filter(|statement| statement.place.part == AppPart::Statement) {
                let is_named = place.adapter.as_ref() == Some(&adapter.name);
                if !is_named && place.adapter.is_some() {
                    continue;
                }
                match judge_script(&place.name, dialect, rule) {
                    Ok(claims) => tenant.statements.push(TenantStatement { text: place.name.clone(), claims }),
                    // For another adapter it may be right.
                    Err((message, help)) => {
                        if is_named && !only_exempt(*script, tools) {
                            compiler.findings.push(place.error(message, help));
                        }
                    }
                }
            }
            tenant.statements.sort_by(|a, b| a.text.cmp(&b.text));
            tenant.statements.dedup_by(|a, b| a.text == b.text);
        }
    }
}

/// Whether no tool that is kept to a tenant runs a script.
fn only_exempt(script: u32, tools: &[Tool]) -> bool {
    tools.iter().filter(|tool| !tool.crosses_tenants).all(|tool| {
        let is_plugin = matches!(&tool.auth, Some(Auth::Script { script: plugin, .. }) if plugin.script == script);
        !is_plugin && tool.scripts().all(|used| used.script != script)
    })
}
