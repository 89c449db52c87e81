//! The judgement of one resolved statement, fact by fact.

use sqlparser::ast::{Ident, ObjectName};

use super::rule::{OPT_OUT, TenantRule, TenantTables};
use crate::statement::{
    dialect::Dialect,
    functions,
    resolved::{Concerns, Fact, Mention, MentionKind, NOT_WHOLE, Operand, OperandKind, ResolvedStatement, Source, at, fold, last},
    shown::Location,
};

/// Functions that read and write no table of the app, and change nothing about who the caller is,
/// beside [`functions::is_known`].
const HARMLESS: [&str; 6] = ["currval", "current_setting", "lastval", "nextval", "pg_advisory_xact_lock", "pg_try_advisory_xact_lock"];
/// Functions of SQLite and its extensions that run SQL, or read and write files. It has no others
/// that see tables.
const SQLITE_HARMFUL: [&str; 8] = ["define", "define_free", "edit", "eval", "load_extension", "readfile", "undefine", "writefile"];
/// The table-valued functions of SQLite that see no table.
const SQLITE_FUNCTIONS: [&str; 3] = ["generate_series", "json_each", "json_tree"];

/// Why a statement could cross tenants.
pub(super) struct Finding {
    /// Where; `None` for the whole of it.
    pub(super) at: Option<Location>,
    pub(super) message: String,
    pub(super) help: String,
}

/// Judges one statement.
pub(super) struct Analyzer<'r> {
    pub(super) rule: &'r TenantRule,
    pub(super) dialect: Dialect,
    /// Which of the parameters are the claim.
    claims: &'r [bool],
    found: Vec<Finding>,
}

impl<'r> Analyzer<'r> {
    pub(super) fn new(rule: &'r TenantRule, dialect: Dialect, claims: &'r [bool]) -> Self {
        Self { rule, dialect, claims, found: Vec::new() }
    }

    pub(super) fn judge(mut self, statement: &ResolvedStatement) -> Vec<Finding> {
        statement.facts.iter().for_each(|fact| self.fact(fact));
        if self.found.is_empty() && !statement.is_whole {
            self.unknown(None, NOT_WHOLE);
        }
        self.found
    }

    fn fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Doubt { concerns: Concerns::Everyone | Concerns::Tenant, at, why } => self.unknown(*at, why),
            Fact::Part(name) => self.part(name),
            Fact::Mention(mention) => self.mention(mention),
            Fact::Call(call) => self.call(&call.name),
            Fact::Block(block) => self.block(block),
            Fact::Insert(insert) => self.insert(insert),
            Fact::Assign(assign) => self.assign(assign),
            Fact::NotMatchedBySource(target) => self.not_matched(target),
            // A doubt is beside each of these that can cross tenants, or a block.
            Fact::Unnamed { .. } | Fact::WritesNamed | Fact::Procedure(_) | Fact::Server(..) => {}
            Fact::Doubt { concerns: Concerns::Rights, .. } | Fact::Wider(_) | Fact::Columns(_) | Fact::Lock(_) => {}
        }
    }

    /// A name that `WITH` gives.
    fn part(&mut self, ident: &Ident) {
        let is_table = |name: &String| matches!(&self.rule.tables, TenantTables::Listed(tables) if tables.contains(name));
        if fold(ident, self.dialect).as_ref().is_some_and(is_table) {
            let message = format!("`{}` is a table of a tenant, and `WITH` gives its name to something else", ident.value);
            self.find(at(ident), message, "Give the part of the statement another name.".to_owned());
        }
    }

    /// A name in the place of a table.
    fn mention(&mut self, mention: &Mention) {
        let Some((ident, name)) = last(&mention.name).and_then(|ident| Some((ident, fold(ident, self.dialect)?))) else { return };
        let is_function = mention.kind == MentionKind::Function;
        if mention.kind == MentionKind::Part || (is_function && !self.dialect.facts().resolution.calls_tables) {
            return;
        }
        let is_not_named = self.rule.tables.is_not_named(&name);
        if name.starts_with(self.dialect.facts().resolution.system_prefix) && is_not_named {
            let why = format!("`{}` is a table of the system, which can show rows of every tenant", ident.value);
            self.unknown(at(ident), &why);
        } else if is_function && is_not_named && !self.is_harmless_table(&name) && !self.rule.tables.contains(&name) {
            self.unknown(at(ident), &format!("`{name}` is a function that can show any table"));
        }
    }

    /// Whether a function of SQLite in the place of a table returns nothing of another tenant.
    fn is_harmless_table(&self, name: &str) -> bool {
        SQLITE_FUNCTIONS.contains(&name) || self.rule.functions.contains(name)
    }

    /// Whether something in `FROM`, or the target of a statement, has the tenant's column.
    pub(super) fn is_tenant(&self, source: &Source) -> bool {
        let Some(Mention { name, kind, .. }) = &source.mention else { return false };
        let name = last(name).and_then(|ident| fold(ident, self.dialect));
        name.is_some_and(|name| match kind {
            MentionKind::Table => self.rule.tables.contains(&name),
            MentionKind::Part => false,
            // In SQLite, a virtual table can be called like one.
            MentionKind::Function => {
                self.dialect.facts().resolution.calls_tables && !self.is_harmless_table(&name) && self.rule.tables.contains(&name)
            }
        })
    }

    /// A function, which may see any table where it is not one of the database's own.
    fn call(&mut self, name: &ObjectName) {
        let Some((ident, folded)) = last(name).and_then(|ident| Some((ident, fold(ident, self.dialect)?))) else {
            return self.unknown(None, "it calls a function by a name that is not understood");
        };
        let is_harmless = if self.dialect.facts().resolution.functions_see_tables {
            functions::is_known(name) || (name.0.len() == 1 && HARMLESS.contains(&folded.as_str()))
        } else {
            !SQLITE_HARMFUL.contains(&folded.as_str())
        };
        if !is_harmless && !self.rule.functions.contains(&folded) {
            let name = &ident.value;
            let message = format!("the build cannot tell whether the function `{name}` keeps to the caller's tenant");
            let help =
                format!("If it returns and changes nothing of another tenant, list it under `tenant.functions` of the adapter, {OPT_OUT}.");
            self.find(at(ident), message, help);
        }
    }

    /// Whether a value is the claim and nothing else.
    pub(super) fn is_claim(&self, value: &Operand) -> bool {
        match value.kind {
            OperandKind::Parameter(number) => {
                number.checked_sub(1).and_then(|place| self.claims.get(place)).is_some_and(|is_claim| *is_claim)
            }
            OperandKind::Column { .. } | OperandKind::Other => false,
        }
    }

    /// Whether a name is that of the tenant's column.
    pub(super) fn is_column(&self, ident: &Ident) -> bool {
        fold(ident, self.dialect).is_some_and(|name| name == self.rule.column)
    }

    pub(super) fn claim(&self) -> String {
        format!("{{{{ {} }}}}", self.rule.claim)
    }

    pub(super) fn find(&mut self, at: Option<Location>, message: String, help: String) {
        self.found.push(Finding { at, message, help });
    }

    pub(super) fn unknown(&mut self, at: Option<Location>, why: &str) {
        let message = format!("the build cannot tell whether the statement keeps to the caller's tenant: {why}");
        self.find(at, message, format!("Write the statement in another way, {OPT_OUT}."));
    }
}

/// The table of a source, as the author writes it, and where.
pub(super) fn table_of(source: &Source) -> (&str, Option<Location>) {
    let ident = source.mention.as_ref().and_then(|mention| last(&mention.name));
    (ident.map_or("", |ident| ident.value.as_str()), ident.and_then(at))
}
