//! Agent profiles: the same language, other words.
//!
//! A file holds one profile, `agent "name" { … }`. What a profile comes to is [`AgentProfile`].

use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;

use skep_trace::Text;

use super::diagnostic::{Diagnostic, Findings, Reporter};
use super::line::Line;
use super::profile::variable;
use super::scope::Scope;
use super::single::only_line;
use super::source::{SourceFile, Span};
use super::suggest;
use super::tree::{Node, Value};
use super::value::shortened;
use super::verb::{self, MANY, Verb};
use crate::profile::{AgentFile, AgentProfile, Part, Places};

/// The line that a file consists of.
const HEAD: &str = "agent";

/// How such a file is begun.
const BEGIN: &str = "write `agent \"name\" { … }`; docs/certify.md shows one";

/// The longest that an agent may take to start. A certificate has less than twice that in all.
const MOST_START: Duration = Duration::from_secs(100);

/// Variables that are the agent's own, whatever a profile says.
const OWN: [(&str, &str); 2] = [("HOME", "{home}"), ("TMPDIR", "a folder beside it")];

/// Reads a file that holds an agent's profile. Nothing comes of it where something is wrong with
/// it.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn parse_agent_profile(file: &Arc<SourceFile>) -> Result<AgentProfile, Vec<Diagnostic>> {
    let findings = Findings::default();
    let at = Reporter { file, findings: &findings };
    let profile = only_line(at, HEAD, BEGIN).map(|head| read(&head, at));
    match (findings.into_sorted(), profile) {
        (none, Some(profile)) if none.is_empty() => Ok(profile),
        (complaints, _) => Err(complaints),
    }
}

/// What one line says.
enum Fact {
    Start(Vec<Text>),
    StartTakes(u64),
    Install(Text),
    Note(Text),
    Login(Text),
    Env(Text, Text),
    File(AgentFile),
    /// Something is wrong with the line, and is told.
    Nothing,
}

/// Every kind of line.
const WORDS: &[Verb<Fact>] = &[
    Verb::new("start", MANY, &[], |line, _| start(line)),
    Verb::new("start-takes", 1, &[], |line, _| start_takes(line)),
    Verb::new("install", 1, &[], |line, _| {
        Fact::Install(line.first_text("a step", "\"npm install -g my-agent@1.2.3\""))
    }),
    Verb::new("note", 1, &[], |line, _| Fact::Note(line.first_text("a sentence", "\"…\""))),
    Verb::new("login", 1, &[], |line, _| {
        Fact::Login(line.first_text("the id of a login method", "\"api-key\""))
    }),
    Verb::new("env", 2, &[], |line, _| env(line)),
    Verb::new("file", 2, &["mode"], |line, _| file(line)),
];

fn read(head: &Node, at: Reporter<'_>) -> AgentProfile {
    let line = Line::new(head, at);
    line.takes(1, &[]);
    line.needs_block("…");
    let name = line.first_name("profile").text;
    let mut profile = AgentProfile { name: name.to_string(), ..AgentProfile::default() };
    let mut once: Vec<(String, Span)> = Vec::new();
    for node in head.children() {
        let line = Line::new(node, at);
        let Some(verb) = verb::find(WORDS, &node.name.text) else {
            unknown(&line);
            continue;
        };
        let fact = verb.read(&line, &mut Scope::default());
        if let Some(what) = fact.stands_once() {
            refuse_second(&mut once, what, &line);
        }
        fact.enter(&mut profile);
    }
    profile
}

impl Fact {
    /// What may stand in a profile once only, if it is that.
    fn stands_once(&self) -> Option<String> {
        Some(match self {
            Self::Start(_) => "start".to_owned(),
            Self::StartTakes(_) => "start-takes".to_owned(),
            Self::Login(_) => "login".to_owned(),
            Self::Env(name, _) if !name.is_empty() => format!("env \"{name}\""),
            Self::File(file) if !file.path.is_empty() => format!("file \"{}\"", file.path),
            _ => return None,
        })
    }

    /// Puts it into the profile.
    fn enter(self, profile: &mut AgentProfile) {
        match self {
            Self::Start(words) => profile.start = words.iter().map(ToString::to_string).collect(),
            Self::StartTakes(ms) => profile.start_takes = Some(Duration::from_millis(ms)),
            Self::Install(step) => profile.install.push(step.to_string()),
            Self::Note(text) => profile.notes.push(text.to_string()),
            Self::Login(method) => profile.login = Some(method.to_string()),
            Self::Env(name, value) => profile.env.push((name.to_string(), value.to_string())),
            Self::File(file) => profile.files.push(file),
            Self::Nothing => {}
        }
    }
}

fn unknown(line: &Line<'_>) {
    if line.node.reported {
        return;
    }
    let word = &line.node.name.text;
    let title = format!("`{}` is no word of a profile", shortened(word));
    let help = suggest::instead(word, verb::words(WORDS));
    line.at.error(line.node.name.span, title, "unknown", help);
}

fn refuse_second(once: &mut Vec<(String, Span)>, what: String, line: &Line<'_>) {
    match once.iter().find(|(known, _)| *known == what) {
        None => once.push((what, line.node.span)),
        Some((_, first)) => {
            let fault = line.at.fault(line.node.span, format!("a second `{}`", shortened(&what)));
            let fault = fault.label("again").other(*first, "first here");
            line.at.put(fault.help("keep one of them"));
        }
    }
}

fn start(line: &Line<'_>) -> Fact {
    let Some(program) = line.needs_arg("a program", "\"my-agent\" \"acp\"") else {
        return Fact::Nothing;
    };
    line.some_text(program, "the program");
    Fact::Start(line.args().iter().map(|word| placed(line, word)).collect())
}

fn start_takes(line: &Line<'_>) -> Fact {
    let Some(value) = line.needs_arg("a time", "\"60s\"") else { return Fact::Nothing };
    let takes_ms = line.duration(value);
    if Duration::from_millis(takes_ms) > MOST_START {
        let most = MOST_START.as_secs();
        let help = format!("write `\"{most}s\"` or less: a certificate is over after two minutes");
        line.at.error(value.span, "no start may take that long", "too long", help);
    }
    Fact::StartTakes(takes_ms)
}

fn env(line: &Line<'_>) -> Fact {
    let Some(name) = line.needs_arg("a variable", "\"NAME\" \"value\"") else {
        return Fact::Nothing;
    };
    let span = name.span;
    let name = variable(line, name);
    if let Some((_, is)) = OWN.iter().find(|(own, _)| *own == &*name) {
        let title = format!("`{name}` is set for every agent");
        line.at.error(span, title, "its own already", format!("remove the line: it is {is}"));
    }
    let Some(value) = line.args().get(1) else {
        let help = format!("write `env \"{name}\" \"value\"`");
        line.at.error(line.node.span, "a variable without a value", "and then?", help);
        return Fact::Nothing;
    };
    Fact::Env(name, placed(line, value))
}

fn file(line: &Line<'_>) -> Fact {
    let Some(path) = line.needs_arg("a path", "\".my-agent/settings.json\" \"…\"") else {
        return Fact::Nothing;
    };
    let span = path.span;
    let path = line.some_text(path, "the path");
    if !path.is_empty() && !is_below(&path) {
        let title = format!("`{}` is no path below the home", shortened(&path));
        let help = "write it from the home on: `\".my-agent/settings.json\"`";
        line.at.error(span, title, "leads elsewhere", help);
    }
    let mode = line.node.prop("mode").map(|value| line.mode(value));
    let Some(content) = line.args().get(1) else {
        let help = format!("write `file \"{}\" \"…\"`", shortened(&path));
        line.at.error(line.node.span, "a file without its content", "and then?", help);
        return Fact::Nothing;
    };
    let content = placed(line, content).to_string();
    Fact::File(AgentFile { path: path.to_string(), content, mode })
}

/// A path as it is written once: from the home on, without detours.
fn is_below(path: &str) -> bool {
    let parts = Path::new(path).components();
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let same = |text: &str| path == text;
    let joined: Vec<_> = parts.clone().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.into_iter().all(plain) && same(&joined.join("/"))
}

/// A text in which places stand for something; complains about those that nobody knows.
fn placed(line: &Line<'_>, value: &Value) -> Text {
    let text = line.text(value);
    let mut after = value.span.start;
    for part in Places::parts(&text) {
        let Part::Place(word) = part else { continue };
        let written = format!("{{{word}}}");
        let span = found(&line.at.file.text, &written, Span::new(after, value.span.end));
        after = span.map_or(after, |span| span.end);
        if !Places::WORDS.contains(&word) {
            unknown_place(line, word, span.unwrap_or(value.span));
        }
    }
    text
}

/// Where something is written in a stretch of the file; a text with escapes may hold it otherwise.
fn found(text: &str, written: &str, within: Span) -> Option<Span> {
    let start = within.start + text.get(within.start..within.end)?.find(written)?;
    Some(Span::new(start, start + written.len()))
}

fn unknown_place(line: &Line<'_>, word: &str, span: Span) {
    let title = format!("there is no place `{{{}}}`", shortened(word));
    let literal = format!("to write it as it stands, write `{{brace}}{}}}`", shortened(word));
    let help = match suggest::nearest(word, Places::WORDS.iter().copied()) {
        Some(near) => format!("did you mean `{{{near}}}`? {literal}"),
        None => {
            let places: Vec<_> = Places::WORDS.iter().map(|word| format!("{{{word}}}")).collect();
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            format!("there is {}; {literal}", suggest::listed(&places))
        }
    };
    line.at.error(span, title, "unknown", help);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_becomes_what_it_says() {
        let text = r#"
            agent "mine" {
                start "my-agent" "--home={home}" ""
                start-takes "60s"
                install "one"
                install "two"
                note "wants Node 22"
                login "api-key"
                env "URL" "{url}/v1"
                file "a/b" "{\"key\": {}}" mode="0600"
            }
        "#;
        let profile = parse_agent_profile(&SourceFile::new("mine.kdl", text)).unwrap();
        assert_eq!(profile.start, ["my-agent", "--home={home}", ""]);
        assert_eq!(profile.start_takes, Some(Duration::from_secs(60)));
        assert_eq!((profile.install.len(), &*profile.notes[0]), (2, "wants Node 22"));
        assert_eq!(profile.login.as_deref(), Some("api-key"));
        assert_eq!(profile.env, [("URL".to_owned(), "{url}/v1".to_owned())]);
        assert_eq!(profile.files[0].mode, Some(0o600));
        assert_eq!(profile.files[0].content, "{\"key\": {}}");
    }

    #[test]
    fn a_file_stands_below_the_home_in_one_way() {
        for path in ["a", ".a/b.json", "a b/c"] {
            assert!(is_below(path), "{path}");
        }
        for path in ["/a", "../a", "a/../b", "./a", "a//b", "a/", "a/."] {
            assert!(!is_below(path), "{path}");
        }
    }
}
