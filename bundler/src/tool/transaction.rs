//! `transaction` of a tool: statements that are carried out in order, all or none of which take effect.

use millrace_catalogue::{Transactions, find};
use millrace_core::app::{Access, Bind, Execute, Input, Part, Piece, Root, Source, Statement, Transaction, TransactionStep};

use super::{
    prepare::{NamedAdapter, Preparation, Work, finish},
    reader::ToolReader,
};
use crate::{
    adapter::Adapters,
    compiler::Compiler,
    field::{Field, Record, Shape},
    names::meant,
    placeholder::is_name,
    statement::{Names, Substitution, TableSet, Tables, why_not_counted},
    yaml::{Entry, Node},
};

/// The most steps of a transaction: it holds its locks until the last one is done.
const MOST_STEPS: usize = 20;

/// One of `transaction`.
pub(super) static STEP: Record = Record {
    name: "step",
    noun: "a step",
    doc: "A statement of a transaction.",
    fields: &[
        Field::new("name", Shape::Text, "Its name. Later steps take values of its result by it: `{{ steps.NAME.COLUMN }}`.").required(),
        Field::new("statement", Shape::Text, "The statement, with placeholders.").filled().required(),
        Field::new(
            "expect",
            Shape::Int(0, 1_000_000),
            "How many rows it must return, or change if it returns none. With another number nothing takes effect, and the call fails \
             with `EXPECTATION_FAILED`.",
        ),
    ],
};

/// Reads `transaction` and `result`. `None` where something of them is wrong, which has been said.
pub(super) fn read(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    entry: &Entry,
    inputs: &[Input],
    named: NamedAdapter<'_>,
    prepared: &Preparation<'_>,
    adapters: &Adapters,
) -> Option<Work> {
    let document = reading.document;
    let nodes = entry.value.items();
    let connector = adapters.list.get(named.used.index as usize).and_then(|adapter| find(&adapter.connector))?;
    let Some(transactions) = connector.transactions else {
        let message = format!("the connector `{}` of the adapter `{}` does not support transactions", connector.name, named.name);
        let help = "Use an adapter on a database of SQL, or call the statements one by one in a `handler`.";
        compiler.error(document, entry.key_range.clone(), message, help);
        return None;
    };
    if matches!(prepared, Preparation::Sql(_, Substitution::Textual, _)) {
        let range = document.root.at("substitution").unwrap_or(&entry.value).range.clone();
        compiler.error(document, range, "the statements of a `transaction` are always bound", "Remove `substitution: textual`.");
        return None;
    }
    if nodes.is_empty() || nodes.len() > MOST_STEPS {
        let message = format!("`transaction` has {} steps, and takes 1 to {MOST_STEPS}", nodes.len());
        compiler.error(document, entry.value.range.clone(), message, "Write one step for each statement.");
        return None;
    }
    let (mut steps, mut tables, mut names) = (Vec::new(), Tables::default(), Vec::new());
    for node in nodes {
        let name = node.text_at("name").unwrap_or_default();
        let range = node.at("name").unwrap_or(node).range.clone();
        let is_named = node.text_at("name").is_some();
        if is_named && !is_name(name) {
            let help = "A name begins with a letter or `_`; letters, digits, `_` and `-` follow.";
            compiler.error(document, range, format!("`{name}` is not a valid name for a step"), help);
        } else if is_named && names.contains(&name) {
            compiler.error(document, range, format!("there are two steps `{name}`"), "Give one of them another name.");
        }
        if let Some((statement_node, text)) = node.at("statement").and_then(|node| Some((node, node.text()?))) {
            let compiled = prepared.compile(text, Names { inputs, steps: &names });
            if let Some(compiled) = finish(compiler, named, (document, statement_node), compiled) {
                let place = document.source.place(statement_node.range.start);
                compiler.places.entry(reading.name.to_owned()).or_default().push(place);
                tables.reads.extend(compiled.tables.reads);
                tables.writes.extend(compiled.tables.writes);
                if transactions == Transactions::Batch
                    && let Some(source) = earlier(&compiled.statement)
                {
                    let message = format!(
                        "the connector `{}` of the adapter `{}` sends all statements of a transaction at once, so `{{{{ {source} }}}}` is \
                         not known yet",
                        connector.name, named.name
                    );
                    let help = "Let the statement find the value itself, by a subquery on a key that the call brings along.";
                    compiler.error(document, statement_node.range.clone(), message, help);
                }
                let facts = connector.language.dialect().map(|dialect| dialect.facts());
                if let Some(function) = facts.and_then(|facts| facts.last_number)
                    && text.to_ascii_lowercase().contains(function)
                {
                    let message =
                        format!("`{function}()` is a row of another call if no step before it inserted one, as an upsert may not");
                    let help = "Return the key, `RETURNING id`, and use `{{ steps.NAME.id }}`; on `d1` find it by a subquery on a key that the \
                                call brings along.";
                    compiler.warning(document, statement_node.range.clone(), message, help);
                }
                if facts.is_some_and(|facts| facts.has_uniform_transactions)
                    && compiled.statement.access == Access::Write
                    && let Some(expect) = node.at("expect")
                {
                    let message = "DynamoDB does not say how many items a statement of a transaction changed";
                    let help = "Remove `expect`: an `UPDATE` of an item that does not exist fails; for other conditions add a step, `EXISTS(SELECT * …)`.";
                    compiler.error(document, expect.range.clone(), message, help);
                }
                if transactions == Transactions::Batch
                    && let Some(dialect) = connector.language.dialect().filter(|dialect| dialect.facts().counts_by_wrapping)
                    && let Some(expect) = node.at("expect")
                    && let Some((why, help)) = why_not_counted(text, dialect)
                {
                    let message = format!(
                        "the connector `{}` of the adapter `{}` cannot count the rows of this step: {why}",
                        connector.name, named.name
                    );
                    compiler.error(document, expect.range.clone(), message, help);
                }
                let expect = node.at("expect").and_then(Node::number).map(|rows| rows as u32);
                steps.push(TransactionStep { name: name.to_owned(), statement: compiled.statement, expect });
            }
        }
        names.push(name);
    }
    // A transaction is held to reading as a whole, or not at all.
    if steps.iter().any(|step| step.statement.access == Access::Write) {
        for step in steps.iter_mut().filter(|step| step.statement.access == Access::Declared) {
            step.statement.access = Access::Write;
            tables.writes = TableSet::All;
        }
    }
    if connector.language.dialect().is_some_and(|dialect| dialect.facts().has_uniform_transactions)
        && steps.iter().any(|step| step.statement.access != steps[0].statement.access)
    {
        let message = "a transaction of DynamoDB only reads or only writes, and this one does both";
        let help = "Read in another tool; to write under a condition, add a step `EXISTS(SELECT * FROM … WHERE …)`.";
        compiler.error(document, entry.value.range.clone(), message, help);
    }
    let result = match document.root.at("result") {
        None => None,
        Some(node) => {
            let wanted = node.text().unwrap_or_default();
            let place = names.iter().position(|name| *name == wanted);
            if place.is_none() {
                let help = meant(wanted, &names, "The steps are");
                compiler.error(document, node.range.clone(), format!("the transaction has no step `{wanted}`"), help);
            }
            place.and_then(|place| u32::try_from(place).ok())
        }
    };
    // A step that is missing here is wrong, which has been said.
    (steps.len() == nodes.len())
        .then_some((Execute::Transaction { adapter: named.used.index, transaction: Transaction { steps, result } }, Some(tables)))
}

/// A value of an earlier step that a statement takes.
fn earlier(statement: &Statement) -> Option<&Source> {
    let is_earlier = |source: &&Source| source.root == Root::Steps;
    statement.parts.iter().find_map(|part| match part {
        Part::Bind(Bind::Value { source, .. }) | Part::BindEach { source, .. } => Some(source).filter(is_earlier),
        Part::Bind(Bind::Composed(pieces)) => {
            pieces.iter().find_map(|piece| if let Piece::Source(source) = piece { Some(source).filter(is_earlier) } else { None })
        }
        _ => None,
    })
}
