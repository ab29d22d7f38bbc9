//! The list of sessions.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skep_trace::{Answer, RpcError, Text};

use super::answer::INVALID_PARAMS;
use super::disk::Session;
use super::step::Step;
use super::task::Task;

/// Sessions on one page of a list.
const PAGE: usize = 50;
/// Characters of a session's first prompt that make its title.
const TITLE_LENGTH: usize = 40;

impl Step<'_> {
    /// `session/list`: by id, a page at a time; the cursor is where the next page begins.
    pub(super) fn list(&mut self, task: &mut Task, params: &Value) {
        let start = match params.get("cursor") {
            None | Some(Value::Null) => Some(0),
            Some(cursor) => cursor.as_str().and_then(|cursor| cursor.parse().ok()),
        };
        let cwd = params.get("cwd").and_then(Value::as_str);
        let fits = |session: &Session| cwd.is_none_or(|cwd| cwd == &*session.cwd);
        let mut found: Vec<_> =
            self.disk.sessions().filter(|(id, session)| self.knows(id) && fits(session)).collect();
        let Some(start) = start.filter(|start| *start <= found.len()) else {
            let error = RpcError::new(INVALID_PARAMS, "this cursor is none that was given out");
            return self.answer(task, Err(error));
        };
        let rest = found.split_off(start);
        let mut page = Map::new();
        page.insert("sessions".into(), rest.iter().take(PAGE).map(entry).collect());
        if rest.len() > PAGE {
            page.insert("nextCursor".into(), (start + PAGE).to_string().into());
        }
        self.answer(task, Ok(Answer { extra: Some(Arc::new(page)), ..Answer::default() }));
    }
}

fn entry((id, session): &(&Text, &Session)) -> Value {
    let mut entry = json!({"sessionId": &***id, "cwd": &*session.cwd});
    if let Some(turn) = session.turns.first() {
        let title: String = turn.user_text().chars().take(TITLE_LENGTH).collect();
        entry["title"] = title.into();
    }
    entry
}
