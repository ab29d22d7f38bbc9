//! Which id stands behind a name of the scenario, and back.

use std::collections::BTreeMap;

use skep_trace::{Hex32, NameKind, Text};

/// The names that were given so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    by_kind: [BTreeMap<Text, Text>; NameKind::WORDS.len()],
}

impl Names {
    /// Gives a name its id; a later gift of the same name counts from then on.
    pub(crate) fn give(&mut self, kind: NameKind, name: &Text, id: &Text) {
        self.by_kind[kind as usize].insert(name.clone(), id.clone());
    }

    /// The id behind a name.
    pub(crate) fn id(&self, kind: NameKind, name: &str) -> Option<&Text> {
        self.by_kind[kind as usize].get(name)
    }

    /// Every name of a kind and the id behind it.
    pub(crate) fn of(&self, kind: NameKind) -> impl Iterator<Item = (&Text, &Text)> {
        self.by_kind[kind as usize].iter()
    }

    /// The id behind a name, as a public key or event id.
    pub(crate) fn hex(&self, kind: NameKind, name: &str) -> Option<Hex32> {
        Hex32::parse(self.id(kind, name)?)
    }

    /// The event behind a label or the name of a thread.
    pub(crate) fn event(&self, name: &str) -> Option<Hex32> {
        self.hex(NameKind::Message, name).or_else(|| self.hex(NameKind::Root, name))
    }

    /// The name that stands for an id; the id itself where none does.
    pub(crate) fn name<'a>(&'a self, kind: NameKind, id: &'a str) -> &'a str {
        let names = &self.by_kind[kind as usize];
        names.iter().find(|(_, named)| &***named == id).map_or(id, |(name, _)| name)
    }

    /// Every id of a kind that a parameter's value could mean by this name.
    pub(crate) fn any_id(&self, name: &str) -> impl Iterator<Item = &Text> {
        self.by_kind.iter().filter_map(move |names| names.get(name))
    }
}
