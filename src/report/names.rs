//! Ids of the wire, by the names that the scenario gave them.

use std::collections::BTreeMap;

use skep_trace::{Hex32, NameKind, Text, Trace, What};

use super::clean::{clean, fit};

/// How much of an id that has no name is shown.
const ID_COLUMNS: usize = 20;

/// Looks ids up.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_id: BTreeMap<Text, Text>,
}

impl Names {
    /// The names that a trace tells, and those that `bind` gave. Where an id has several names,
    /// the first one stays.
    pub fn new(trace: &Trace, bound: &[(Text, Text)]) -> Self {
        let mut by_id = BTreeMap::new();
        for record in &trace.records {
            if let What::Named { kind, name, id } = &record.what {
                let named =
                    if *kind == NameKind::Channel { id.to_lowercase().into() } else { id.clone() };
                by_id.entry(named).or_insert_with(|| name.clone());
            }
        }
        for (name, id) in bound {
            by_id.entry(id.clone()).or_insert_with(|| name.clone());
        }
        Self { by_id }
    }

    /// The name of an id, or as much of the id as tells it apart.
    pub fn show(&self, id: &str) -> String {
        match self.by_id.get(id).or_else(|| self.by_id.get(id.to_lowercase().as_str())) {
            Some(name) => clean(name),
            None => fit(&clean(id), ID_COLUMNS),
        }
    }

    /// The name of a public key or an event, or its first digits.
    pub fn hex(&self, id: Hex32) -> String {
        match self.by_id.get(id.to_string().as_str()) {
            Some(name) => clean(name),
            None => id.short(),
        }
    }

    /// A subscription: buzz names one after its channel (`ch-` and the channel's id).
    pub fn subscription(&self, sub: &str) -> String {
        match sub.strip_prefix("ch-") {
            Some(channel) => format!("ch-{}", self.show(channel)),
            None => fit(&clean(sub), ID_COLUMNS * 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use skep_trace::Record;

    use super::*;

    #[test]
    fn ids_are_shown_by_name_or_cut_short() {
        let id = "AB".repeat(32);
        let named = |kind, name: &str, id: &str| Record {
            at_ms: 0,
            what: What::Named { kind, name: name.into(), id: id.into() },
        };
        let trace = Trace {
            records: vec![
                named(NameKind::Channel, "general", "1f-UUID"),
                named(NameKind::Root, "t1", &id.to_lowercase()),
                named(NameKind::Message, "m1", &id.to_lowercase()),
            ],
            ..Trace::default()
        };
        let names = Names::new(&trace, &[("s1".into(), "a-S1-x9Qz".into())]);
        assert_eq!(names.subscription("ch-1f-uuid"), "ch-general");
        assert_eq!(names.hex(Hex32::parse(&id).unwrap()), "t1");
        assert_eq!(names.show("a-S1-x9Qz"), "s1");
        assert_eq!(names.show("a-session-that-nobody-named"), "a-session-that-nobo…");
    }
}
