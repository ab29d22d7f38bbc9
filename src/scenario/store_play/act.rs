//! What happens in a play, line by line.

use skep_store::play::{Act, Change, Doubted, Expectation, Pace, Process, Turn};
use skep_trace::Text;

use super::super::line::Line;
use super::super::suggest;
use super::super::value::shortened;
use super::{operation, place};

/// The words that lines of a play begin with.
pub(super) const WORDS: [&str; 13] = [
    "given",
    "process",
    "do",
    "schedule",
    "kill",
    "power-cut",
    "outside",
    "explained",
    "mode",
    "holds",
    "kept",
    "warned",
    "no-name",
];

/// The words of an `outside`.
const OUTSIDE: [&str; 10] = [
    "file",
    "replace",
    "link",
    "fifo",
    "directory",
    "stranger",
    "chmod",
    "full",
    "read-only",
    "umask",
];

/// Reads a line; one that begins with another word is none.
pub(super) fn read(line: &Line<'_>) -> Option<Act> {
    Some(match &*line.node.name.text {
        "given" => given(line),
        "process" => Act::Process(process(line)),
        "do" => {
            line.takes(1, &[]);
            line.needs_block("put \"a\" session=\"1\"");
            Act::Do { process: who(line), ops: operation::all(line) }
        }
        "schedule" => {
            line.takes(0, &[]);
            line.needs_block("one rest");
            Act::Schedule(inner(line).map(|line| turn(&line)).collect())
        }
        "kill" => {
            line.takes(1, &[]);
            line.no_block();
            Act::Kill(who(line))
        }
        "power-cut" => {
            line.takes(0, &[]);
            Act::PowerCut(inner(line).filter_map(|line| doubted(&line)).collect())
        }
        "outside" => {
            line.takes(0, &[]);
            line.needs_block("full #true");
            return outside(line);
        }
        _ => Act::Expect(expectation(line)?),
    })
}

/// The lines in a block.
fn inner<'a>(line: &Line<'a>) -> impl Iterator<Item = Line<'a>> {
    let at = line.at;
    let nodes = line.node.children().iter().filter(|node| !node.reported);
    nodes.map(move |node| Line::new(node, at))
}

fn who(line: &Line<'_>) -> Text {
    line.first_text("the name of a process", "\"one\"")
}

fn given(line: &Line<'_>) -> Act {
    line.takes(1, &["session"]);
    line.no_block();
    let session = line.needs("session", "\"1\"");
    Act::Given {
        channel: line.first_text("a channel", "\"a\""),
        session: session.map_or("".into(), |value| line.some_text(value, "the session")),
    }
}

fn process(line: &Line<'_>) -> Process {
    line.takes(1, &["agent", "relay", "days"]);
    let mut ops = operation::all(line);
    if let Some(second) = ops.get(1) {
        let span = super::Span::new(second.place.0, second.place.1);
        let help = "write another `process`, or a `do` below the schedule";
        line.at.error(span, "a process begins one operation", "a second one", help);
    }
    Process {
        name: who(line),
        agent: line.text_prop("agent"),
        relay: line.text_prop("relay"),
        days: line.count_prop("days").unwrap_or(0).into(),
        op: (!ops.is_empty()).then(|| ops.swap_remove(0)),
    }
}

fn turn(line: &Line<'_>) -> Turn {
    line.no_block();
    line.needs_arg("a step", "rename");
    let name = &line.node.name.text;
    let steps = line.texts("a step").iter().map(|word| pace(&word.text)).collect();
    Turn { place: place(line.node.span), process: name.clone(), steps }
}

fn pace(word: &Text) -> Pace {
    match (&**word, word.strip_prefix("until-")) {
        ("rest", _) => Pace::Rest,
        (_, Some("locked")) => Pace::Locked,
        (_, Some(step)) => Pace::Before(step.into()),
        _ => Pace::Step(word.clone()),
    }
}

fn doubted(line: &Line<'_>) -> Option<Doubted> {
    known(line, "a `power-cut`", &["left"])?;
    line.takes(2, &[]);
    line.no_block();
    line.needs_arg("what it is about", "\"the name state/x\" \"lost\"");
    let words = line.texts("a text");
    let (what, way) = match &words[..] {
        [what, way, ..] => (what.text.clone(), way.text.clone()),
        [what] => {
            let help = "write what became of it: `\"lost\"`, `\"0 bytes\"`, `\"zeros\"`";
            line.at.error(what.span, "`left` needs two texts", "and then?", help);
            return None;
        }
        [] => return None,
    };
    Some(Doubted { place: place(line.node.span), what, way })
}

/// The one change of an `outside`; several are several lines.
fn outside(line: &Line<'_>) -> Option<Act> {
    let mut lines = inner(line);
    let first = lines.next()?;
    if let Some(second) = lines.next() {
        let help = "write another `outside` for it";
        second.at.error(second.node.span, "an `outside` is one change", "a second one", help);
    }
    change(&first).map(Act::Outside)
}

fn change(line: &Line<'_>) -> Option<Change> {
    known(line, "an `outside`", &OUTSIDE)?;
    line.no_block();
    let path = || line.first_text("a path", "\"@file\"");
    Some(match &*line.node.name.text {
        "file" => {
            line.takes(1, &["text"]);
            let text = line.needs("text", "\"{\"").map_or("".into(), |value| line.text(value));
            Change::File(path(), text)
        }
        "replace" => {
            line.takes(1, &["from", "to"]);
            let text = |key| line.needs(key, "\"1\"").map_or("".into(), |value| line.text(value));
            Change::Replace(path(), text("from"), text("to"))
        }
        "link" => {
            line.takes(1, &["to"]);
            let to = line.needs("to", "\"precious\"");
            Change::Link(path(), to.map_or("".into(), |value| line.some_text(value, "a path")))
        }
        "chmod" => {
            line.takes(2, &[]);
            Change::Chmod(path(), mode(line, 1))
        }
        "umask" => {
            line.takes(1, &[]);
            Change::Umask(mode(line, 0))
        }
        "full" | "read-only" => {
            line.takes(1, &[]);
            let value = line.needs_arg("a switch", "#true")?;
            let on = line.switch(value);
            if line.node.name.text.starts_with('f') {
                Change::Full(on)
            } else {
                Change::ReadOnly(on)
            }
        }
        word => {
            line.takes(1, &[]);
            match word {
                "fifo" => Change::Fifo(path()),
                "directory" => Change::Dir(path()),
                _ => Change::GiveAway(path()),
            }
        }
    })
}

fn expectation(line: &Line<'_>) -> Option<Expectation> {
    line.no_block();
    let word = &*line.node.name.text;
    let (args, props): (usize, &[&str]) = match word {
        "explained" => (0, &[]),
        "mode" => (2, &[]),
        "holds" => (1, &["text"]),
        _ => (1, &[]),
    };
    line.takes(args, props);
    let first = |what| line.first_text(what, "\"…\"");
    Some(match word {
        "explained" => Expectation::Explained,
        "mode" => Expectation::Mode(first("a path"), mode(line, 1)),
        "holds" => {
            let text = line.needs("text", "\"precious\"")?;
            Expectation::Holds(first("a path"), line.text(text))
        }
        "kept" => Expectation::Kept(first("the text of a file")),
        "warned" => Expectation::Warned(who(line)),
        "no-name" => Expectation::NoName(first("a part of a name")),
        _ => return None,
    })
}

/// The bits at so many arguments; complains when there are none.
fn mode(line: &Line<'_>, at: usize) -> u32 {
    match line.args().get(at) {
        Some(value) => line.mode(value),
        None => {
            let title = format!("`{}` needs bits", line.verb());
            line.at.error(line.node.span, title, "no bits here", "write them as `\"0600\"`");
            0
        }
    }
}

/// Complains about a word that is not among those of a place.
fn known(line: &Line<'_>, where_to: &str, words: &[&str]) -> Option<()> {
    let word = &line.node.name;
    if words.contains(&&*word.text) {
        return Some(());
    }
    let title = format!("`{}` is no word of {where_to}", shortened(&word.text));
    let help = suggest::instead(&word.text, words.iter().copied());
    line.at.error(word.span, title, "unknown", help);
    None
}
