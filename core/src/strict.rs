//! Reads a JSON value and notices a member that appears more than once, at any depth.
//!
//! `serde_json` keeps the last of such members without a word. Whoever looked at the request before
//! this server (a gateway that decides who may call which tool) may have kept the first.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{cell::RefCell, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, map::Entry};

use crate::{Json, hidden::repeated};

/// The most characters of a name that a message repeats, and the most steps of a path.
const SHOWN_CHARACTERS: usize = 64;
const SHOWN_STEPS: usize = 6;

/// A value's place in the message.
#[derive(Clone, Copy)]
pub(crate) struct MessagePath<'p> {
    outer: Option<&'p MessagePath<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Member(&'p str),
    Element(usize),
}

/// The most levels of lists and objects that a message has, itself among them: what the parser
/// reads.
const MOST_LEVELS: usize = 127;

/// Reads a value that was sent as JSON text. `within` is how many lists and objects of the message
/// it stands in, so that it is no deeper than it could have been as JSON. `None` for text that is
/// not JSON, or more, or has a member twice, or is too deep.
pub(crate) fn parse(text: &str, within: usize) -> Option<Json> {
    let repeated = Repeated::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict::member("", &repeated).deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    (repeated.into_inner().is_none() && is_within(&value, MOST_LEVELS.saturating_sub(within))).then_some(value)
}

/// Whether a value has at most so many levels.
fn is_within(value: &Json, levels: usize) -> bool {
    match value {
        Json::Array(elements) => levels > 0 && elements.iter().all(|element| is_within(element, levels - 1)),
        Json::Object(members) => levels > 0 && members.values().all(|member| is_within(member, levels - 1)),
        _ => true,
    }
}

/// The first member that appeared more than once: its name, and the place of its object.
pub(crate) type Repeated = RefCell<Option<(String, String)>>;

/// Reads one value.
#[derive(Clone, Copy)]
pub(crate) struct Strict<'p> {
    place: MessagePath<'p>,
    repeated: &'p Repeated,
}

impl<'p> Strict<'p> {
    /// Reads a member of a message; `repeated` gets what appears more than once in its value.
    pub(crate) fn member(name: &'p str, repeated: &'p Repeated) -> Self {
        Self { place: MessagePath { outer: None, step: Step::Member(name) }, repeated }
    }

    fn inner<'i>(&'i self, step: Step<'i>) -> Strict<'i> {
        Strict { place: MessagePath { outer: Some(&self.place), step }, repeated: self.repeated }
    }

    #[cold]
    fn note(&self, name: &str) {
        let mut repeated = self.repeated.borrow_mut();
        if repeated.is_none() {
            *repeated = Some((shown(name), self.place.to_string()));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self.inner(Step::Element(list.len())))? {
            list.push(element);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(self.inner(Step::Member(&name)))?;
            match object.entry(name) {
                Entry::Vacant(free) => drop(free.insert(value)),
                Entry::Occupied(taken) => self.note(taken.key()),
            }
        }
        Ok(Json::Object(object))
    }
}

impl fmt::Display for MessagePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps: Vec<Step<'_>> = core::iter::successors(Some(self), |place| place.outer).map(|place| place.step).collect();
        steps.reverse();
        for (index, step) in steps.iter().take(SHOWN_STEPS).enumerate() {
            match step {
                Step::Member(name) if index == 0 => f.write_str(&shown(name))?,
                Step::Member(name) => write!(f, ".{}", shown(name))?,
                Step::Element(at) => write!(f, "[{at}]")?,
            }
        }
        if steps.len() > SHOWN_STEPS { f.write_str("…") } else { Ok(()) }
    }
}

/// A caller's name, cut for a message.
fn shown(name: &str) -> String {
    repeated(name, SHOWN_CHARACTERS).into_owned()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn text_that_is_json() {
        for (text, expected) in [
            ("[1,2]", Some(json!([1, 2]))),
            (" {\"a\": [\"b\"]}\n", Some(json!({"a": ["b"]}))),
            ("\"x\"", Some(json!("x"))),
            ("", None),
            ("[1", None),
            ("[1] [2]", None),
            ("[1],", None),
            ("[1e999]", None),
            ("{\"a\":1,\"\\u0061\":2}", None),
            ("[{\"a\":{\"b\":1,\"b\":1}}]", None),
        ] {
            assert_eq!(parse(text, 0), expected, "{text}");
        }
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        for (levels, within, fits) in [(127, 0, true), (128, 0, false), (124, 3, true), (125, 3, false), (1, 127, false), (1, 1000, false)]
        {
            assert_eq!(parse(&nested(levels), within).is_some(), fits, "{levels} within {within}");
        }
        assert_eq!(parse("1", 1000).map(|value| value.to_string()).as_deref(), Some("1"));
    }
}
