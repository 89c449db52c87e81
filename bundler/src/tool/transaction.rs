//! `transaction` of a tool: statements that are carried out in order, all or none of which take
//! effect.

use millrace_catalogue::{Connector, Transactions, find};
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
    scope::IN_STEP,
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
        Field::new("statement", Shape::Text, "The statement, with placeholders.").sees(IN_STEP).required(),
        Field::new(
            "expect",
            Shape::Int(0, 1_000_000),
            "How many rows it must return, or change if it returns none. With another number nothing takes effect, and the call fails \
             with `EXPECTATION_FAILED`.",
        ),
    ],
};

/// The steps of a transaction, while they are read.
struct Steps<'a> {
    reading: &'a ToolReader<'a>,
    connector: &'static Connector,
    named: NamedAdapter<'a>,
    names: Vec<&'a str>,
    list: Vec<TransactionStep>,
    tables: Tables,
}

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
    if connector.transactions.is_none() {
        let message = format!("the connector `{}` of the adapter `{}` does not support transactions", connector.name, named.name);
        let help = "Use an adapter on a database of SQL, or call the statements one by one in a `handler`.";
        compiler.error(document, entry.key_range.clone(), message, help);
        return None;
    }
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
    let mut steps = Steps { reading, connector, named, names: Vec::new(), list: Vec::new(), tables: Tables::default() };
    for node in nodes {
        steps.read(compiler, node, inputs, prepared);
    }
    steps.hold_to_access(compiler, entry);
    let result = steps.result(compiler);
    // A step that is missing here is wrong, which has been said.
    (steps.list.len() == nodes.len()).then_some((
        Execute::Transaction { adapter: named.used.index, transaction: Transaction { steps: steps.list, result } },
        Some(steps.tables),
    ))
}

impl<'a> Steps<'a> {
    fn read(&mut self, compiler: &mut Compiler<'_>, node: &'a Node, inputs: &[Input], prepared: &Preparation<'_>) {
        let document = self.reading.document;
        let name = self.name(compiler, node);
        if let Some((statement_node, text)) = node.at("statement").and_then(|node| Some((node, node.text()?))) {
            let compiled = prepared.compile(text, Names { inputs, steps: &self.names, is_step: true });
            if let Some(compiled) = finish(compiler, self.named, document, statement_node, compiled) {
                let place = document.source.place(statement_node.range.start);
                compiler.places.entry(self.reading.name.to_owned()).or_default().push(place);
                self.tables.reads.extend(compiled.tables.reads);
                self.tables.writes.extend(compiled.tables.writes);
                self.check_statement(compiler, statement_node, text, &compiled.statement);
                if let Some(expect) = node.at("expect") {
                    self.check_expected(compiler, expect, text, compiled.statement.access);
                }
                let expect = node.at("expect").and_then(Node::number).map(|rows| rows as u32);
                self.list.push(TransactionStep { name: name.to_owned(), statement: compiled.statement, expect });
            }
        }
        self.names.push(name);
    }

    fn name(&self, compiler: &mut Compiler<'_>, node: &'a Node) -> &'a str {
        let document = self.reading.document;
        let Some(name) = node.text_at("name") else { return "" };
        let range = node.at("name").unwrap_or(node).range.clone();
        if !is_name(name) {
            let help = "A name begins with a letter or `_`; letters, digits, `_` and `-` follow.";
            compiler.error(document, range, format!("`{name}` is not a valid name for a step"), help);
        } else if self.names.contains(&name) {
            compiler.error(document, range, format!("there are two steps `{name}`"), "Give one of them another name.");
        }
        name
    }

    /// Looks at what the values of a step are made of.
    fn check_statement(&self, compiler: &mut Compiler<'_>, node: &Node, text: &str, statement: &Statement) {
        let (document, connector) = (self.reading.document, self.connector);
        if connector.transactions == Some(Transactions::Batch)
            && let Some(source) = earlier(statement)
        {
            let message = format!(
                "the connector `{}` of the adapter `{}` sends all statements of a transaction at once, so `{{{{ {source} }}}}` is \
                 not known yet",
                connector.name, self.named.name
            );
            let help = "Let the statement find the value itself, by a subquery on a key that the call brings along.";
            compiler.error(document, node.range.clone(), message, help);
        }
        let last_number = connector.language.dialect().and_then(|dialect| dialect.facts().last_number);
        if let Some(function) = last_number.filter(|function| text.to_ascii_lowercase().contains(function)) {
            let message = format!("`{function}()` is a row of another call if no step before it inserted one, as an upsert may not");
            let help = "Return the key, `RETURNING id`, and use `{{ steps.NAME.id }}`; on `d1` find it by a subquery on a key that the \
                        call brings along.";
            compiler.warning(document, node.range.clone(), message, help);
        }
    }

    /// Looks whether the number of rows of a step can be known.
    fn check_expected(&self, compiler: &mut Compiler<'_>, expect: &Node, text: &str, access: Access) {
        let (document, connector) = (self.reading.document, self.connector);
        if self.has_uniform_transactions() && access == Access::Write {
            let message = "DynamoDB does not say how many items a statement of a transaction changed";
            let help =
                "Remove `expect`: an `UPDATE` of an item that does not exist fails; for other conditions add a step, `EXISTS(SELECT * …)`.";
            compiler.error(document, expect.range.clone(), message, help);
        }
        if connector.transactions == Some(Transactions::Batch)
            && let Some(dialect) = connector.language.dialect().filter(|dialect| dialect.facts().counts_by_wrapping)
            && let Some((why, help)) = why_not_counted(text, dialect)
        {
            let message = format!(
                "the connector `{}` of the adapter `{}` cannot count the rows of this step: {why}",
                connector.name, self.named.name
            );
            compiler.error(document, expect.range.clone(), message, help);
        }
    }

    /// A transaction is held to reading as a whole, or not at all.
    fn hold_to_access(&mut self, compiler: &mut Compiler<'_>, entry: &Entry) {
        if self.list.iter().any(|step| step.statement.access == Access::Write) {
            for step in self.list.iter_mut().filter(|step| step.statement.access == Access::Declared) {
                step.statement.access = Access::Write;
                self.tables.writes = TableSet::All;
            }
        }
        let does_both = self.list.iter().any(|step| step.statement.access != self.list[0].statement.access);
        if self.has_uniform_transactions() && does_both {
            let message = "a transaction of DynamoDB only reads or only writes, and this one does both";
            let help = "Read in another tool; to write under a condition, add a step `EXISTS(SELECT * FROM … WHERE …)`.";
            compiler.error(self.reading.document, entry.value.range.clone(), message, help);
        }
    }

    /// Whether a transaction only reads, or only writes and counts nothing.
    fn has_uniform_transactions(&self) -> bool {
        self.connector.language.dialect().is_some_and(|dialect| dialect.facts().has_uniform_transactions)
    }

    /// The place of the step that `result` names.
    fn result(&self, compiler: &mut Compiler<'_>) -> Option<u32> {
        let document = self.reading.document;
        let node = document.root.at("result")?;
        let wanted = node.text().unwrap_or_default();
        let place = self.names.iter().position(|name| *name == wanted);
        if place.is_none() {
            let help = meant(wanted, &self.names, "The steps are");
            compiler.error(document, node.range.clone(), format!("the transaction has no step `{wanted}`"), help);
        }
        place.and_then(|place| u32::try_from(place).ok())
    }
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
