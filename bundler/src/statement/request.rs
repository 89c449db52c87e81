//! Requests for PostgREST: a map of the tool's file, in which values are placeholders.

use std::collections::BTreeSet;

use millrace_core::app::{Access, Bind, Input, InputKind, Leaf, Part};
use millrace_languages::postgrest::{Role, Verb, judge};

use super::{
    compiled::Compiled,
    document::{Judgement, PlaceRole, compile, not_one, not_some},
    tables::{TableSet, Tables},
};
use crate::{Problem, source::Source, yaml::Node};

/// Compiles a request.
///
/// # Errors
/// Every [`Problem`] of the request; their places are in the file.
pub(crate) fn compile_request(source: &Source, node: &Node, inputs: &[Input]) -> Result<Compiled, Vec<Problem>> {
    compile(source, node, inputs, false, "write it as text: `\"Infinity\"`, `\"-Infinity\"` or `\"NaN\"`", |members| {
        let judged = judge(members)?;
        let own = || TableSet::Named(BTreeSet::from([judged.target.clone()]));
        // What a function reads and writes is not known; nor which table is behind the name of
        // related rows.
        let read = if judged.has_related || judged.verb == Verb::Rpc { TableSet::All } else { own() };
        let (access, tables) = match judged.reads {
            true => (Access::Read, Tables { reads: read, writes: TableSet::default() }),
            false if judged.verb == Verb::Rpc => (Access::Write, Tables::ALL),
            false => (Access::Write, Tables { reads: read, writes: own() }),
        };
        Ok(Judgement { roles: judged.values, access, tables })
    })
}

impl PlaceRole for Role {
    fn refuses(self, part: &Part) -> Option<(&'static str, &'static str)> {
        let kind = match part {
            Part::Bind(Bind::Value { kind, .. }) => *kind,
            Part::Bind(Bind::Composed(_)) => Some(InputKind::String),
            _ => Some(InputKind::Array),
        };
        let is = |kinds: &[InputKind]| kind.is_none_or(|kind| kinds.contains(&kind));
        match self {
            Self::Parameter => not_one(part),
            Self::Parameters => not_some(part),
            Self::Elements => match part {
                Part::BindEach { .. } => not_some(part),
                _ => None,
            },
            Self::Truth if !is(&[InputKind::Boolean]) => {
                Some(("only true, false or null can be a value here", "declare the input as `boolean`, or write `eq` for another value"))
            }
            Self::Number if !is(&[InputKind::Int]) => {
                Some(("only a whole number can be a value here", "declare the input as `int`, with `min` and `max`"))
            }
            Self::Rows => match part {
                Part::BindEach { kind: Some(InputKind::Object | InputKind::Json) | None, .. } => None,
                _ if is(&[InputKind::Object, InputKind::Json]) => None,
                _ => Some((
                    "only an object, or a list of objects, can be a value here",
                    "declare the input as `object`, or as `array` of `object`",
                )),
            },
            Self::Truth | Self::Number | Self::Body => None,
        }
    }

    fn leaf(self) -> Leaf {
        match self {
            Self::Parameter | Self::Truth | Self::Number => Leaf::Parameter,
            Self::Parameters => Leaf::Parameters,
            Self::Elements => Leaf::Elements,
            Self::Body => Leaf::Body,
            Self::Rows => Leaf::Rows,
        }
    }
}
