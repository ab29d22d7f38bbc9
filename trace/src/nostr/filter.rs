//! A filter: which events a subscription asks for (NIP-01).

use serde_json::{Map, Value};

use crate::acp::Text;
use crate::hex::Hex32;

/// A NIP-01 filter: every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// `ids`; ids compare by value.
    pub ids: Option<Vec<Hex32>>,
    /// `authors`.
    pub authors: Option<Vec<Hex32>>,
    /// `kinds`.
    pub kinds: Option<Vec<u16>>,
    /// `since`, in seconds, inclusive.
    pub since: Option<u64>,
    /// `until`, in seconds, inclusive.
    pub until: Option<u64>,
    /// `limit`: the newest so many.
    pub limit: Option<usize>,
    /// `#x`: one of the values; compared as text, as relays do.
    pub tags: Vec<(char, Vec<Text>)>,
}

impl Filter {
    /// The filter as JSON.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        let hexes = |list: &[Hex32]| Value::from_iter(list.iter().map(Hex32::to_string));
        if let Some(ids) = &self.ids {
            object.insert("ids".into(), hexes(ids));
        }
        if let Some(authors) = &self.authors {
            object.insert("authors".into(), hexes(authors));
        }
        if let Some(kinds) = &self.kinds {
            object.insert("kinds".into(), Value::from_iter(kinds.iter().copied()));
        }
        let numbers = [
            ("since", self.since),
            ("until", self.until),
            ("limit", self.limit.map(|limit| limit as u64)),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                object.insert(key.into(), Value::from(number));
            }
        }
        for (name, values) in &self.tags {
            let values = Value::from_iter(values.iter().map(|value| &**value));
            object.insert(format!("#{name}"), values);
        }
        Value::Object(object)
    }

    /// Reads a filter; `None` when a condition has the wrong type. Unknown keys are ignored.
    pub fn from_json(value: &Value) -> Option<Self> {
        let mut filter = Self::default();
        for (key, value) in value.as_object()? {
            match key.as_str() {
                "ids" => filter.ids = Some(hexes(value)?),
                "authors" => filter.authors = Some(hexes(value)?),
                "kinds" => filter.kinds = Some(kinds(value)?),
                "since" => filter.since = Some(value.as_u64()?),
                "until" => filter.until = Some(value.as_u64()?),
                "limit" => filter.limit = Some(usize::try_from(value.as_u64()?).ok()?),
                _ => {
                    if let Some(name) = key.strip_prefix('#').and_then(|name| name.chars().next()) {
                        filter.tags.push((name, texts(value)?));
                    }
                }
            }
        }
        Some(filter)
    }
}

fn hexes(value: &Value) -> Option<Vec<Hex32>> {
    value.as_array()?.iter().map(|item| Hex32::parse(item.as_str()?)).collect()
}

fn kinds(value: &Value) -> Option<Vec<u16>> {
    value.as_array()?.iter().map(|item| u16::try_from(item.as_u64()?).ok()).collect()
}

fn texts(value: &Value) -> Option<Vec<Text>> {
    value.as_array()?.iter().map(|item| Some(item.as_str()?.into())).collect()
}
