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

/// Reports what the parser did not understand though the scanner did. It says much of one mistake
/// several times, and the first word about it is the best one.
fn refuse(found: &[KdlDiagnostic], scan: &Scan, base: usize, at: Reporter<'_>) {
    let Some(first) = found.first() else {
        let span = Span::new(base, base);
        return at.error(span, "the file is no KDL", "from here on", "see https://kdl.dev");
    };
    let start = scan.text.floor_char_boundary(first.span.offset());
    let end = scan.text.floor_char_boundary(first.span.offset() + first.span.len()).max(start);
    let line = scan.text[start..end].find('\n').map_or(end, |newline| start + newline);
    let message = first.message.as_deref().unwrap_or("this is not understood");
    let help = first.help.as_deref().unwrap_or("see https://kdl.dev for how KDL is written");
    let span = Span::new(start, line).shifted(base);
    at.error(span, format!("this is no KDL: {message}"), "not understood", help);
}

struct Reader<'a> {
    text: &'a str,
    scan: &'a Scan,
    base: usize,
    at: Reporter<'a>,
}

impl Reader<'_> {
    fn lines(&self, document: &KdlDocument) -> Vec<Node> {
        document.nodes().iter().map(|node| self.line(node)).collect()
    }

    fn line(&self, node: &KdlNode) -> Node {
        let name = self.word(node.name());
        let mut line = Node {
            span: name.span,
            whole: name.span,
            reported: self.is_slip(name.span),
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
        line
    }

    fn entry(&self, entry: &KdlEntry, line: &mut Node) {
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
        self.scan.slips.binary_search(&span).is_ok()
    }
}
