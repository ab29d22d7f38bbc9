//! The methods of the Agent Client Protocol, as far as a misspelled one is to be recognised.

use skep_trace::Text;

use super::line::Line;
use super::suggest;
use super::tree::Value;

/// What version 1 of the protocol names, its unstable part included. A method of one's own begins
/// with `_`, and is not checked.
pub(super) const METHODS: &[&str] = &[
    "initialize",
    "authenticate",
    "logout",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/prompt",
    "session/cancel",
    "session/update",
    "session/close",
    "session/delete",
    "session/set_mode",
    "session/set_model",
    "session/set_config_option",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/release",
    "terminal/wait_for_exit",
    "terminal/kill",
    "$/cancel_request",
];

/// It is a method, of the protocol or of one's own.
pub(super) fn is_method(word: &str) -> bool {
    METHODS.contains(&word) || (word.starts_with('_') && word.len() > 1)
}

/// A value as a method.
pub(super) fn read(value: &Value, line: &Line<'_>) -> Text {
    let method = line.some_text(value, "the method");
    if !method.is_empty() && !is_method(&method) {
        let title = format!("`{}` is no method", super::value::shortened(&method));
        line.at.error(value.span, title, "unknown", instead(&method, []));
    }
    method
}

/// What to write instead of an unknown method; `others` are words that could stand there as well.
pub(super) fn instead<'a>(word: &'a str, others: impl IntoIterator<Item = &'a str>) -> String {
    match suggest::nearest(word, METHODS.iter().copied().chain(others)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "methods are those of the protocol, such as `session/load`; \
                 one of your own begins with `_`"
            .to_owned(),
    }
}
