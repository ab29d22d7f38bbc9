//! How one line is put together: a word, then values and `key=value` pairs, then a block.

use super::Scanner;
use crate::scenario::value::shortened;

/// Where in its line the scanner is.
#[derive(Debug, Default)]
pub(super) struct Grammar {
    want: Want,
    /// Space stands before the next token.
    pub(super) spaced: bool,
    /// Where the line begins.
    first: Option<usize>,
    /// The last token, where it can be the key of a property.
    key: Option<usize>,
    /// The last `=`.
    equals: usize,
    /// The line was complained about.
    faulty: bool,
}

/// What may come next.
#[derive(Debug, Default, PartialEq)]
enum Want {
    /// The word that a line begins with.
    #[default]
    Word,
    /// A value, a property, a block, or the end.
    More,
    /// The value of a property.
    Value,
    /// The end: a block was closed.
    End,
}

/// How far the end of an annotation is looked for. Each `(` looks once, so that a file full of
/// them must not cost its length each time.
const MAX_ANNOTATION: usize = 128;

/// How a line is built, for a reader who does not know KDL.
pub(super) const SYNTAX: &str = "a line is a word, then values and `key=value` pairs: \
                                 `mention channel=\"general\" root=\"t1\"`";

impl Grammar {
    /// Nothing of a line was read.
    pub(super) fn is_empty(&self) -> bool {
        self.want == Want::Word
    }
}

impl Scanner<'_> {
    /// A text, word, number or keyword; the offset stands behind it. `is_word` where it can name
    /// a line or a property.
    pub(super) fn value_token(&mut self, start: usize, is_word: bool) {
        self.dash = None;
        match self.grammar.want {
            Want::Word => self.begins_line(start, is_word),
            Want::More if !self.grammar.spaced => {
                let help = "separate them by a space";
                let title = "two values without a space between";
                self.fault(start, self.offset, title, "sticks to what is before it", help);
            }
            Want::More => self.grammar.key = is_word.then_some(start),
            Want::Value => {
                self.grammar.want = Want::More;
                self.grammar.key = None;
            }
            Want::End => self.after_block(start, is_word),
        }
        self.grammar.spaced = false;
    }

    fn begins_line(&mut self, start: usize, is_word: bool) {
        self.lines += 1;
        self.grammar.want = Want::More;
        self.grammar.first = Some(start);
        self.grammar.key = None;
        if !is_word {
            let title = "a line begins with a value";
            self.fault(start, self.offset, title, "no word", SYNTAX);
        }
    }

    /// A line ends with its block; where there is room, the missing end is put in.
    fn after_block(&mut self, start: usize, is_word: bool) {
        let span = self.span(start, self.offset);
        let help = "begin a new line, or write `;` before it";
        self.at.error(span, "something follows a block", "on the line of its `}`", help);
        if self.grammar.spaced && self.out.text.as_bytes()[start - 1] == b' ' {
            self.cover(start - 1, start, ";");
        } else {
            self.out.hopeless = true;
        }
        self.begins_line(start, is_word);
    }

    /// `=` stands between a key and its value.
    pub(super) fn equals(&mut self) {
        let start = self.offset;
        self.offset += 1;
        if self.grammar.want == Want::More && self.grammar.key.is_some() {
            self.grammar.want = Want::Value;
            self.grammar.equals = start;
        } else {
            self.fault(start, start + 1, "a `=` without a key before it", "what is set?", SYNTAX);
        }
        self.grammar.spaced = true;
    }

    /// `(…)` means nothing in scenarios.
    pub(super) fn annotation(&mut self) {
        let start = self.offset;
        let rest = &self.text[start..];
        let near = &rest[..rest.floor_char_boundary(MAX_ANNOTATION)];
        let line = near.find(super::is_newline).unwrap_or(near.len());
        let Some(length) = near[..line].find(')') else {
            return self.stray("(", "remove it; a text with a parenthesis in it is quoted");
        };
        self.offset += length + 1;
        let span = self.span(start, self.offset);
        let title = "a type annotation means nothing here";
        self.at.error(span, title, "not wanted", "remove it, with its parentheses");
        self.cover(start, self.offset, " ");
        self.grammar.spaced = true;
    }

    /// A letter that is no part of any line.
    pub(super) fn stray(&mut self, letter: &str, help: &str) {
        let start = self.offset;
        self.offset += letter.len();
        self.fault(start, self.offset, &format!("a `{letter}` on its own"), "not wanted", help);
    }

    /// A block begins: the words of its line are complete.
    pub(super) fn head_ends(&mut self, dashed: bool) {
        self.check_value();
        if self.grammar.want != Want::More && !dashed {
            let (title, help) = match self.grammar.want {
                Want::End => ("a second block in one line", "begin a new line, or join the two"),
                _ => ("a block without a word before it", "write `step \"…\" {` on one line"),
            };
            let span = self.span(self.offset, self.offset + 1);
            self.hopeless(span, title, "whose block?", help);
        }
        self.write_over_faults();
    }

    /// A line ends.
    pub(super) fn line_ends(&mut self) {
        self.check_value();
        self.write_over_faults();
        self.grammar = Grammar::default();
    }

    /// A line goes on behind its block.
    pub(super) fn block_ended(&mut self) {
        self.grammar = Grammar { want: Want::End, ..Grammar::default() };
    }

    /// A line inside a block begins.
    pub(super) fn block_began(&mut self) {
        self.grammar = Grammar::default();
    }

    fn check_value(&mut self) {
        let Some(key) = self.grammar.key.filter(|_| self.grammar.want == Want::Value) else {
            return;
        };
        let at = self.grammar.equals;
        let key = shortened(self.text[key..at].trim());
        let help = format!("write `{key}=\"…\"`");
        self.fault(at, at + 1, "a property without a value", "what is it set to?", &help);
    }

    /// Complains about a line, once. The parser will not see it.
    pub(super) fn fault(&mut self, start: usize, end: usize, title: &str, label: &str, help: &str) {
        let span = self.span(start, end);
        if !self.grammar.faulty {
            self.at.error(span, title, label, help);
        }
        self.mark_faulty();
    }

    /// The line is complained about.
    pub(super) fn mark_faulty(&mut self) {
        self.grammar.faulty = true;
        self.out.hopeless |= self.grammar.first.is_none();
    }

    /// Leaves of a faulty line one word that everybody passes over.
    fn write_over_faults(&mut self) {
        if let (true, Some(first)) = (self.grammar.faulty, self.grammar.first) {
            self.cover(first, self.offset, " ");
            self.cover(first, first + 1, "x");
            let span = self.span(first, first + 1);
            self.out.slips.push(span);
        }
        self.grammar.faulty = false;
    }
}
