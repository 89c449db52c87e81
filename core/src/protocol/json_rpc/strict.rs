//! Reads a JSON value and notices a member that appears more than once, at any depth.
//!
//! `serde_json` keeps the last of such members without a word. Whoever looked at the request before this server (a gateway that decides
//! who may call which tool) may have kept the first.

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
pub(super) struct MessagePath<'p> {
    outer: Option<&'p MessagePath<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Member(&'p str),
    Element(usize),
}

/// The first member that appeared more than once: its name, and the place of its object.
pub(super) type Repeated = RefCell<Option<(String, String)>>;

/// Reads one value.
#[derive(Clone, Copy)]
pub(super) struct Strict<'p> {
    place: MessagePath<'p>,
    repeated: &'p Repeated,
}

impl<'p> Strict<'p> {
    /// Reads a member of a message; `repeated` gets what appears more than once in its value.
    pub(super) fn member(name: &'p str, repeated: &'p Repeated) -> Self {
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
