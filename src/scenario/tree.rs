//! A document as lines with words, values and places: all that the rest of the language knows of
//! KDL.

use skep_trace::Text;

use super::source::Span;

/// One line: a name, its arguments and properties, and the lines in its block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// The word that it begins with.
    pub(super) name: Word,
    /// From its first word to its last, without the block.
    pub(super) span: Span,
    /// With the block.
    pub(super) whole: Span,
    /// The arguments, in order.
    pub(super) args: Vec<Value>,
    /// The properties, in order; each key once.
    pub(super) props: Vec<Prop>,
    /// It is complained about already, and to be passed over.
    pub(super) reported: bool,
    /// The lines in its braces; `None` when it has none.
    pub(super) block: Option<Vec<Node>>,
}

/// A word and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// The word.
    pub(super) text: Text,
    /// Its place.
    pub(super) span: Span,
}

/// `key=value`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prop {
    /// The key.
    pub(super) key: Word,
    /// The value.
    pub(super) value: Value,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    /// The value.
    pub(super) kind: Kind,
    /// Its place.
    pub(super) span: Span,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A text, quoted or not.
    Text(Text),
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// `#true`, `#false`.
    Bool(bool),
    /// `#null`.
    Null,
    /// Something that is already complained about.
    Reported,
}

impl Node {
    /// The lines in its braces.
    pub(super) fn children(&self) -> &[Self] {
        self.block.as_deref().unwrap_or_default()
    }

    /// The value of a property.
    pub(super) fn prop(&self, key: &str) -> Option<&Value> {
        self.props.iter().find(|prop| &*prop.key.text == key).map(|prop| &prop.value)
    }

    /// Itself and all lines below it.
    pub(super) fn size(&self) -> usize {
        1 + self.children().iter().map(Self::size).sum::<usize>()
    }
}

impl Value {
    /// The text, where it is one.
    pub(super) fn text(&self) -> Option<&Text> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, for a sentence.
    pub(super) fn what(&self) -> &'static str {
        match self.kind {
            Kind::Text(_) => "a text",
            Kind::Integer(_) => "a number",
            Kind::Float(_) => "a fraction",
            Kind::Bool(_) => "a switch",
            Kind::Null | Kind::Reported => "`#null`",
        }
    }
}
