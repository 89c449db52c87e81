//! How a database would run the statements of a tool, which do not run.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};

use crate::pipeline::{
    isolate::database,
    isolate::runtime::Pipeline,
    operator::{
        description::choices,
        rehearsal::{DatabasePlace, Question, ask, written},
    },
    session,
};
use crate::{
    Result,
    app::{Access, Bind, Execute, Form, InputKind, Part, Statement, Tool},
    ports::{BoundStep, BoundTransaction, Command},
    value::{Rows, Value},
};

/// How a language asks for the plan of a statement.
#[derive(Clone, Copy, Debug)]
pub struct PlanQuestion {
    /// The texts that ask for it, of a statement that has so many values. Several are the steps of
    /// one transaction, in which the last one that returns rows has the plan; they take no values.
    pub texts: fn(&str, usize) -> Vec<String>,
    /// What stands in the place of a value with this declared type.
    pub sample: fn(Option<InputKind>) -> Value,
}

/// How a database would run one text of a statement.
#[derive(Clone, Debug)]
pub struct StatementPlan {
    /// The place of the statement among those of the tool.
    pub statement: usize,
    /// The name of the step, in a transaction.
    pub step: Option<String>,
    /// The database, where the adapter has several.
    pub database: Option<String>,
    /// The text, with parameters in the places of values.
    pub text: String,
    /// What the database said, in its own form.
    pub rows: Result<Rows>,
}

/// The plans of a tool's statements, one for each text that callers can make of one. What is not
/// explained, such as `CREATE TABLE`, has none.
pub(in crate::pipeline) async fn plans(pipeline: &Pipeline, tool: &Tool, question: PlanQuestion) -> Vec<StatementPlan> {
    let Some(index) = tool.execute.adapter().map(|adapter| adapter as usize) else { return Vec::new() };
    let Some(adapter) = pipeline.app.adapters.get(index) else { return Vec::new() };
    let mut plans = Vec::new();
    for database in database::all(adapter) {
        let asking = Asking { pipeline, place: DatabasePlace { adapter: index, database }, question };
        match &tool.execute {
            Execute::Transaction { transaction, .. } => {
                for (place, step) in transaction.steps.iter().enumerate() {
                    asking.of_statement(place, &step.statement, Some(&step.name), &mut plans).await;
                }
            }
            execute => {
                if let Some(statement) = execute.statements().next() {
                    asking.of_statement(0, statement, None, &mut plans).await;
                }
            }
        }
    }
    plans
}

/// Who asks, where.
struct Asking<'a> {
    pipeline: &'a Pipeline,
    place: DatabasePlace<'a>,
    question: PlanQuestion,
}

impl Asking<'_> {
    async fn of_statement(&self, place: usize, statement: &Statement, step: Option<&str>, plans: &mut Vec<StatementPlan>) {
        if statement.style.form() != Form::Text {
            return;
        }
        for choice in choices(statement).unwrap_or_else(|| Vec::from([None])) {
            let chosen = |part: usize| match (choice, statement.parts.get(part)) {
                (Some((of, option)), Some(Part::Choice { source, .. } | Part::ChoiceEach { source, .. })) if source == of => option,
                _ => 0,
            };
            // What is wrong with it was said when it was rehearsed.
            let Ok((text, values)) = written(self.pipeline, statement, "", chosen, |part| self.sample(part)) else { return };
            if !statement.style.is_explained(&text) {
                return;
            }
            let rows = self.ask(&text, &values).await;
            plans.push(StatementPlan {
                statement: place,
                step: step.map(ToOwned::to_owned),
                database: self.place.database.map(ToOwned::to_owned),
                text,
                rows,
            });
        }
    }

    fn sample(&self, part: &Part) -> Value {
        match part {
            Part::Bind(Bind::Value { kind, .. }) | Part::BindEach { kind, .. } => (self.question.sample)(*kind),
            _ => (self.question.sample)(None),
        }
    }

    async fn ask(&self, text: &str, values: &[Value]) -> Result<Rows> {
        let Some(adapter) = self.pipeline.app.adapters.get(self.place.adapter) else { return Ok(Rows::default()) };
        let (session, _) = session::without_caller(&*self.pipeline.ports.env, adapter)?;
        let texts = (self.question.texts)(text, values.len());
        let steps: Vec<BoundStep<'_>>;
        let command = match texts.as_slice() {
            [text] => Command::Statement { text, values },
            texts => {
                let step = |text| BoundStep {
                    name: "plan",
                    text: Cow::Borrowed(text),
                    parameters: Vec::new(),
                    access: Access::Read,
                    expect: None,
                };
                steps = texts.iter().map(|text| step(text.as_str())).collect();
                Command::Transaction(BoundTransaction { steps: &steps, result: None })
            }
        };
        ask(self.pipeline, self.place, Question { command, session: &session }, |connector, query| connector.query(query)).await
    }
}
