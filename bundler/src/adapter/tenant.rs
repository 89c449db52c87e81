//! `tenant` of an adapter: which rows belong to a tenant, and what of the caller says which tenant
//! that is.

use std::collections::BTreeSet;

use millrace_core::app::{Root, Source};

use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape},
    placeholder::{self, Piece},
    statement::{Dialect, TenantRule, TenantTables},
    yaml::{Data, Document, Node},
};

/// `tenant` of an adapter.
pub(super) static TENANT: Record = Record {
    name: "tenant",
    noun: "`tenant`",
    doc: "Which rows belong to a tenant. A statement that could cross tenants does not build.",
    fields: &[
        Field::new("claim", Shape::Text, "The claim that has the caller's tenant: `org` is `{{ auth.claims.org }}`.").required(),
        Field::new("column", Shape::Text, "The column that has the tenant of a row.").required(),
        Field::new("tables", Shape::List(&Shape::Text), "The tables and views that have the column.").default("all but those of `shared`"),
        Field::new("shared", Shape::List(&Shape::Text), "Without `tables`: the tables that do not have the column, and are everyone's."),
        Field::new(
            "functions",
            Shape::List(&Shape::Text),
            "Functions of your own in the database that show and change nothing of another tenant.",
        ),
    ],
};

/// Reads it. `dialect` is that of the adapter's connector: `None` for one without statements.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, connector: &str, dialect: Option<Dialect>) -> Option<TenantRule> {
    let entry = document.root.entry("tenant")?;
    let node = &entry.value;
    let Some(dialect) = dialect else {
        let help = "Remove `tenant`: only statements of SQL are judged by it.";
        compiler.error(document, entry.key_range.clone(), format!("connector `{connector}` takes no statements of SQL"), help);
        return None;
    };
    if !dialect.facts().judges_tenants {
        let help =
            "Remove `tenant`, and restrict each statement by hand; or give the adapter a user of the database that sees only what it may.";
        let message = format!("the build does not judge statements of connector `{connector}` by `tenant`");
        compiler.error(document, entry.key_range.clone(), message, help);
        return None;
    }
    let claim = claim(compiler, document, node.at("claim")?);
    let column = name(compiler, document, node.at("column")?, "a column", "org_id", dialect);
    let tables = names(compiler, document, node.at("tables"), "a table", "orders", dialect);
    let shared = names(compiler, document, node.at("shared"), "a table", "countries", dialect);
    let functions = names(compiler, document, node.at("functions"), "a function", "total_of", dialect);
    let tables = match (node.entry("tables"), node.entry("shared")) {
        (Some(_), Some(other)) => {
            let help = "With `tables`, every other table is everyone's: remove `shared`. Without `tables`, all tables but those of `shared` have the column.";
            compiler.error(document, other.key_range.clone(), "`tenant` has both `tables` and `shared`", help);
            return None;
        }
        (Some(listed), None) => {
            if matches!(&listed.value.data, Data::List(items) if items.is_empty()) {
                let help = "List the tables that have the column, or remove `tables`: then all have it.";
                compiler.error(document, listed.value.range.clone(), "`tables` must have at least 1 element", help);
            }
            TenantTables::Listed(tables)
        }
        (None, _) => TenantTables::AllBut(shared),
    };
    Some(TenantRule { claim: claim?, column: column?, tables, functions })
}

fn claim(compiler: &mut Compiler<'_>, document: &Document, node: &Node) -> Option<Source> {
    let written = node.text()?;
    let whole = format!("{{{{ auth.claims.{} }}}}", written.trim());
    if let (pieces, problems) = placeholder::scan(&whole)
        && let ([Piece::Placeholder(placeholder)], true) = (pieces.as_slice(), problems.is_empty())
        && let (["auth", "claims", claim @ ..], None) = (placeholder.path.as_slice(), placeholder.filter)
        && !claim.is_empty()
    {
        let path = ["claims"].iter().chain(claim).map(|name| (*name).to_owned()).collect();
        return Some(Source { root: Root::Auth, path });
    }
    let help = "Write what follows `auth.claims.` in a placeholder: `org`, or `app.org` for a claim within another.";
    compiler.error(document, node.range.clone(), format!("`{written}` is not the name of a claim"), help);
    None
}

fn names(
    compiler: &mut Compiler<'_>,
    document: &Document,
    list: Option<&Node>,
    what: &str,
    example: &str,
    dialect: Dialect,
) -> BTreeSet<String> {
    let nodes = list.map(Node::items).unwrap_or_default();
    nodes.iter().filter_map(|node| name(compiler, document, node, what, example, dialect)).collect()
}

fn name(compiler: &mut Compiler<'_>, document: &Document, node: &Node, what: &str, example: &str, dialect: Dialect) -> Option<String> {
    let written = node.text()?;
    let name = TenantRule::name(written, dialect);
    if name.is_none() {
        let help = format!("Write it as in a statement: `{example}`.");
        compiler.error(document, node.range.clone(), format!("`{written}` is not the name of {what}"), help);
    }
    name
}
