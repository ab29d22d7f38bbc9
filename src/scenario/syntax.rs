//! Text into a tree: the only module that knows the `kdl` crate.

use kdl::{KdlDiagnostic, KdlDocument, KdlEntry, KdlIdentifier, KdlNode, KdlValue};

use super::diagnostic::Reporter;
use super::scan::{Scan, scan};
use super::source::Span;
use super::tree::{Kind, Node, Prop, Value, Word};

/// Reads the lines of a document. `base` is where its text begins in the file. `None` when it is
/// no KDL; every reason is reported.
pub(super) fn read(text: &str, base: usize, at: Reporter<'_>) -> Option<Vec<Node>> {
    let scan = scan(text, base, at);
    if scan.hopeless {
        return None;
    }
    match KdlDocument::parse_v2(&scan.text) {
        Ok(document) => Some(Reader { text: &scan.text, scan: &scan, base, at }.lines(&document)),
        Err(error) => {
            refuse(&error.diagnostics, &scan, base, at);
            None
        }
    }
}

/// Reports what the parser did not understand. It says much of one mistake twice; the first word
/// about a place is the best one.
fn refuse(found: &[KdlDiagnostic], scan: &Scan, base: usize, at: Reporter<'_>) {
    let mut places = Vec::new();
    for diagnostic in found {
        let span = shown(diagnostic, &scan.text);
        if places.contains(&span.start) || places.len() > super::MAX_DIAGNOSTICS {
            continue;
        }
        places.push(span.start);
        let (title, help) = in_our_words(diagnostic, &scan.text[span.start..span.end]);
        at.error(span.shifted(base), title, "not understood", help);
    }
    if found.is_empty() {
        at.error(Span::new(base, base), "the file is no KDL", "from here on", SYNTAX);
    }
}

/// How a line is built, for a reader who does not know KDL.
const SYNTAX: &str = "a line is a word, then values and `key=value` pairs: \
                      `mention channel=\"general\" root=\"t1\"`";

/// The place of a complaint, cut to one line of the text.
fn shown(diagnostic: &KdlDiagnostic, text: &str) -> Span {
    let start = text.floor_char_boundary(diagnostic.span.offset());
    let end = text.floor_char_boundary(diagnostic.span.offset() + diagnostic.span.len());
    let end = end.max(start);
    let line = text[start..end].find('\n').map_or(end, |at| start + at);
    Span::new(start, line)
}

fn in_our_words(diagnostic: &KdlDiagnostic, shown: &str) -> (String, String) {
    let message = diagnostic.message.as_deref().unwrap_or_default();
    let help = diagnostic.help.as_deref().unwrap_or(SYNTAX);
    if shown.starts_with('{') && message.contains("child block") {
        let help = "a block stands on the line of its word: `step \"…\" {`";
        return ("a block without a word before it".to_owned(), help.to_owned());
    }
    if message.contains("property value") || shown.starts_with('=') {
        let help = "write `key=\"value\"` with nothing between".to_owned();
        return ("a property without a value".to_owned(), help);
    }
    let message = message.trim_end_matches('.');
    let mut letters = message.chars();
    let title = letters.next().map(|first| first.to_lowercase().to_string() + letters.as_str());
    let title = title.unwrap_or_else(|| "this is not understood".to_owned());
    (format!("not a line of a scenario: {title}"), help.to_owned())
}

struct Reader<'a> {
    text: &'a str,
    scan: &'a Scan,
    base: usize,
    at: Reporter<'a>,
}

impl Reader<'_> {
    fn lines(&self, document: &KdlDocument) -> Vec<Node> {
        document.nodes().iter().filter_map(|node| self.line(node)).collect()
    }

    /// One line; `None` when its first word is reported already.
    fn line(&self, node: &KdlNode) -> Option<Node> {
        let name = self.word(node.name());
        self.no_annotation(node.ty());
        let mut line = Node {
            span: name.span,
            whole: name.span,
            name,
            args: Vec::new(),
            props: Vec::new(),
            block: node.children().map(|block| self.lines(block)),
        };
        for entry in node.entries() {
            line.span = line.span.to(self.span_of(entry));
            self.entry(entry, &mut line);
        }
        let whole = Span::new(node.span().offset(), node.span().offset() + node.span().len());
        let text = self.text.get(whole.start..whole.end).unwrap_or_default().trim_end();
        line.whole = Span::new(line.span.start, self.base + whole.start + text.len());
        (!self.is_slip(line.name.span)).then_some(line)
    }

    fn entry(&self, entry: &KdlEntry, line: &mut Node) {
        self.no_annotation(entry.ty());
        let value = self.value(entry);
        let Some(key) = entry.name() else { return line.args.push(value) };
        let key = self.word(key);
        if self.is_slip(key.span) {
            return;
        }
        match line.props.iter().find(|prop| prop.key.text == key.text) {
            None => line.props.push(Prop { key, value }),
            Some(first) => {
                let span = key.span.to(value.span);
                let title = format!("`{}` is given twice", key.text);
                let fault = self.at.fault(span, title).label("again");
                let fault = fault.other(first.key.span.to(first.value.span), "first here");
                self.at.put(fault.help("keep one of the two"));
            }
        }
    }

    fn value(&self, entry: &KdlEntry) -> Value {
        let whole = self.span_of(entry);
        let shown = entry.format().map_or(0, |format| format.value_repr.len());
        let key = entry.name().is_some();
        let start = if key { whole.end.saturating_sub(shown) } else { whole.start };
        let span = Span::new(start.max(whole.start), whole.end);
        if self.is_slip(span) {
            return Value { kind: Kind::Reported, span };
        }
        let kind = match entry.value() {
            KdlValue::String(text) => Kind::Text(text.as_str().into()),
            KdlValue::Integer(number) => Kind::Integer(*number),
            KdlValue::Float(number) => Kind::Float(*number),
            KdlValue::Bool(switch) => Kind::Bool(*switch),
            KdlValue::Null => Kind::Null,
        };
        Value { kind, span }
    }

    fn word(&self, name: &KdlIdentifier) -> Word {
        let span = name.span();
        let span = Span::new(span.offset(), span.offset() + span.len()).shifted(self.base);
        Word { text: name.value().into(), span }
    }

    fn span_of(&self, entry: &KdlEntry) -> Span {
        let span = entry.span();
        Span::new(span.offset(), span.offset() + span.len()).shifted(self.base)
    }

    fn is_slip(&self, span: Span) -> bool {
        // Slips stand in the order of the text.
        self.scan.slips.binary_search(&span).is_ok()
    }

    fn no_annotation(&self, annotation: Option<&KdlIdentifier>) {
        let Some(annotation) = annotation else { return };
        let title = format!("the annotation `({})` means nothing here", annotation.value());
        let span = self.word(annotation).span;
        self.at.error(span, title, "not wanted", "remove it, with its parentheses");
    }
}
