//! Which tests a command means: files, folders, Markdown, standard input, or the built-in corpus.
//!
//! All files are read and understood before anything runs. One mistake in one of them, and all
//! mistakes of all of them are told and nothing is played: a verdict on half of what was asked for
//! would look like one on the whole.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skep_mutant::Mutant;
use skep_trace::Text;

use super::trouble::Trouble;
use super::{corpus, select};
use crate::scenario::{
    Diagnostic, MAX_BYTES, Placed, Scenario, SourceFile, capability_fault, parse_with,
};
use skep_check::RULES;

/// More files than any suite has; a folder that holds more was probably not meant.
const MOST_FILES: usize = 10_000;
/// Deeper folders are not entered.
const DEEPEST: usize = 32;

/// A test, and whether it comes with skep.
#[derive(Clone, Debug)]
pub struct Test {
    /// The scenario, or one cell of its matrix.
    pub scenario: Scenario,
    /// It comes with skep.
    pub builtin: bool,
}

/// A file to be read as scenarios.
struct Source {
    file: Arc<SourceFile>,
    builtin: bool,
    /// The user named it, so it must hold a scenario; in a folder it may be a shared cast.
    named: bool,
}

/// The tests in these paths; without a path those of the corpus.
///
/// # Errors
/// When a path cannot be read, or a file has mistakes.
pub fn tests(paths: &[PathBuf]) -> Result<Vec<Test>, Trouble> {
    let sources = if paths.is_empty() { corpus_sources() } else { named_sources(paths)? };
    let mut tests = Vec::new();
    let mut mistakes = Vec::new();
    for source in &sources {
        let (scenarios, found) = parse_with(&source.file, &mut |name| beside(source, name));
        if source.named && scenarios.is_empty() && found.is_empty() {
            return Err(without_scenario(&source.file));
        }
        mistakes.extend(found);
        mistakes.extend(unknown_words(&scenarios));
        let builtin = source.builtin;
        tests.extend(scenarios.into_iter().map(|scenario| Test { scenario, builtin }));
    }
    if !mistakes.is_empty() {
        return Err(Trouble::Scenarios(mistakes));
    }
    if tests.is_empty() {
        return Err(Trouble::usage(format!("there is no scenario in {}", listed(paths)))
            .help("a scenario file ends in `.kdl`, or is Markdown with `kdl` blocks"));
    }
    Ok(tests)
}

/// Those of them that fit one of the patterns.
///
/// # Errors
/// When none does.
pub fn only(mut tests: Vec<Test>, patterns: &[String]) -> Result<Vec<Test>, Trouble> {
    let names: Vec<Text> = tests.iter().map(|test| test.scenario.name.clone()).collect();
    tests.retain(|test| select::test_fits(patterns, &test.scenario.name));
    if !tests.is_empty() {
        return Ok(tests);
    }
    let near = patterns
        .iter()
        .find_map(|pattern| select::nearest(pattern, names.iter().map(|name| &**name)));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`skep list scenarios` names them; `*` stands for any run of letters".to_owned(),
    };
    Err(Trouble::usage(format!("no test fits `--only {}`", patterns.join(" "))).help(help))
}

fn corpus_sources() -> Vec<Source> {
    let source = |file| Source { file, builtin: true, named: false };
    corpus::files().into_iter().map(source).collect()
}

fn named_sources(paths: &[PathBuf]) -> Result<Vec<Source>, Trouble> {
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let file = read_bounded(&mut io::stdin().lock(), "-", Path::new("-"))?;
            sources.push(Source { file, builtin: false, named: true });
            continue;
        }
        let is_folder = fs::metadata(path).map_err(|error| unreadable(path, &error))?.is_dir();
        let files = if is_folder { below(path)? } else { vec![path.clone()] };
        for file in files {
            let file = read(&file)?;
            // A file that is named twice, or by itself and by its folder, is meant once.
            if !sources.iter().any(|source| source.file.name == file.name) {
                sources.push(Source { file, builtin: false, named: !is_folder });
            }
        }
    }
    Ok(sources)
}

/// The scenario files below a folder, sorted by path; what is hidden stays so, and links to
/// folders are not followed.
fn below(folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let mut files = Vec::new();
    walk(folder, 0, &mut files)?;
    files.sort();
    Ok(files)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Trouble> {
    let unreadable = |error: io::Error| unreadable(folder, &error);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(unreadable)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() && depth < DEEPEST {
            walk(&path, depth + 1, files)?;
        } else if is_scenario_file(&path) && path.is_file() {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            let title = format!("`{}` holds more than {MOST_FILES} files", folder.display());
            return Err(Trouble::usage(title).help("name the folders that are meant"));
        }
    }
    Ok(())
}

fn is_scenario_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    ["kdl", "md", "markdown"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Reads a file of the user's.
///
/// # Errors
/// When it cannot be read, or is too long.
pub fn read(path: &Path) -> Result<Arc<SourceFile>, Trouble> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        let title = format!("`{}` is neither a file nor a folder", path.display());
        return Err(Trouble::usage(title).help("`-` reads standard input"));
    }
    let mut file = open(path).map_err(|error| unreadable(path, &error))?;
    // `./a.kdl` is `a.kdl`: GitHub finds its annotations by such names.
    let name = path.strip_prefix(".").unwrap_or(path);
    read_bounded(&mut file, &name.to_string_lossy(), path)
}

#[expect(clippy::disallowed_methods, reason = "the command line reads the user's files")]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads at most one byte more than a scenario file may have, however much there is.
fn read_bounded(
    source: &mut impl Read,
    name: &str,
    path: &Path,
) -> Result<Arc<SourceFile>, Trouble> {
    let mut bytes = Vec::new();
    source
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    SourceFile::from_bytes(name, &bytes).map_err(|mistake| Trouble::Scenarios(vec![mistake]))
}

/// The text of a file that is no scenario.
///
/// # Errors
/// When it cannot be read, is no text, or is longer than that.
#[expect(clippy::disallowed_methods, reason = "the command line reads the user's files")]
pub fn text(path: &Path, most_bytes: u64) -> Result<String, Trouble> {
    let mut text = String::new();
    let read =
        File::open(path).and_then(|file| file.take(most_bytes + 1).read_to_string(&mut text));
    match read {
        Err(error) => Err(Trouble::usage(format!("`{}` cannot be read: {error}", path.display()))),
        Ok(_) if text.len() as u64 > most_bytes => {
            let most = most_bytes >> 20;
            Err(Trouble::usage(format!("`{}` is longer than {most} MiB", path.display())))
        }
        Ok(_) => Ok(text),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Trouble {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Trouble::usage(format!("there is no `{shown}`"))
            .help("without a path the built-in scenarios are meant; `skep list scenarios`"),
        io::ErrorKind::PermissionDenied => {
            Trouble::usage(format!("`{shown}` may not be read: permission denied"))
        }
        _ => Trouble::usage(format!("`{shown}` cannot be read: {error}")),
    }
}

/// The file that a `use` names, beside the file that uses it.
fn beside(source: &Source, name: &str) -> Result<Arc<SourceFile>, String> {
    if source.builtin {
        return corpus::beside(&source.file.name, name).ok_or("there is no such file".to_owned());
    }
    // A report of a stranger's may be played: what is shown of a file in a complaint is that of
    // a scenario file beside it, not of any that this user can read.
    if !is_scenario_file(Path::new(name)) || Path::new(name).is_absolute() {
        return Err("it is no `.kdl` file beside this one".to_owned());
    }
    let path = Path::new(&*source.file.name).with_file_name(name);
    read(&path).map_err(|trouble| match trouble {
        Trouble::Told { title, .. } => title,
        Trouble::Scenarios(mistakes) => mistakes.iter().map(|one| one.title.clone()).collect(),
    })
}

fn without_scenario(file: &SourceFile) -> Trouble {
    let help = match file.is_markdown() {
        true => "in Markdown a scenario stands in a block that begins with ```kdl and nothing more",
        false if file.text.trim().is_empty() => {
            "it is empty; a scenario begins with `scenario \"name\" {`"
        }
        false => "it is a cast for others to `use`; a scenario begins with `scenario \"name\" {`",
    };
    Trouble::scenario(format!("there is no scenario in `{}`", file.name)).help(help)
}

/// The mutants, rules and capabilities that scenarios name and nobody knows.
fn unknown_words(scenarios: &[Scenario]) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for scenario in scenarios {
        for kill in scenario.kills.iter().filter(|kill| Mutant::parse(&kill.value).is_none()) {
            let known = Mutant::ALL.iter().map(|mutant| mutant.id());
            found.push(unknown(scenario, kill, "mutant", "mutants", known));
        }
        for need in &scenario.needs {
            if let Some((title, help)) = capability_fault(&need.value) {
                let mistake = Diagnostic::new(&scenario.file, need.span, title);
                found.push(mistake.label("unknown").help(help));
            }
        }
        let ours = |rule: &&Placed<Text>| !rule.value.starts_with("A-");
        let known = |rule: &Text| RULES.iter().any(|known| known.id == &**rule);
        for rule in scenario.rules.iter().filter(ours).filter(|rule| !known(&rule.value)) {
            found.push(unknown(scenario, rule, "rule", "rules", RULES.iter().map(|rule| rule.id)));
        }
    }
    // The cells of a matrix share the lines of their scenario.
    found.sort_by_key(|mistake| mistake.span);
    found.dedup_by_key(|mistake| mistake.span);
    found
}

fn unknown<'a>(
    scenario: &Scenario,
    word: &Placed<Text>,
    what: &str,
    list: &str,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let help = match select::nearest(&word.value, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`skep list {list}` names them"),
    };
    let title = format!("there is no {what} `{}`", word.value);
    Diagnostic::new(&scenario.file, word.span, title).label("unknown").help(help)
}

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    if paths.is_empty() { "the corpus".to_owned() } else { paths.join(", ") }
}
