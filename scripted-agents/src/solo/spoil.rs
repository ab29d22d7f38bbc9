//! What broken agents make of a history that they replay.

use serde_json::{Value, json};

use super::defect::Defect;

/// A text longer than this is cut by an agent that truncates, in bytes.
const CUT: usize = 64 * 1024;

/// One replay of one broken agent.
pub(super) struct Spoil {
    pub(super) defect: Option<Defect>,
    /// The session was replayed before in this process.
    pub(super) again: bool,
}

impl Spoil {
    /// The history as this agent replays it.
    pub(super) fn history(&self, mut updates: Vec<Value>) -> Vec<Value> {
        let Some(defect) = self.defect.filter(|_| !updates.is_empty()) else { return updates };
        match defect {
            Defect::DropsLastUser => remove_last(&mut updates, "user_message_chunk"),
            Defect::DropsAgentText => remove_last(&mut updates, "agent_message_chunk"),
            Defect::AgentFirst => agent_first(&mut updates),
            Defect::DoublesLater if self.again => updates.extend_from_within(..),
            Defect::HidesTools => updates.retain(|update| !kind(update).starts_with("tool_call")),
            Defect::DropsBlocks => updates.retain(|update| !is_block(update)),
            Defect::SwapsRoles => swap_first(&mut updates),
            Defect::InventsKinds => updates.insert(0, json!({"sessionUpdate": "history_start"})),
            Defect::StrayToolUpdate => updates.push(stray()),
            Defect::ReplaysNotices => updates.insert(0, notice()),
            Defect::Compacts => updates.insert(0, compaction()),
            _ => updates.iter_mut().for_each(|update| self.update(defect, update)),
        }
        updates
    }

    fn update(&self, defect: Defect, update: &mut Value) {
        let kind = kind(update).to_owned();
        match defect {
            Defect::FlattensLines => change_text(update, |text| text.replace(['\n', '\r'], " ")),
            Defect::Truncates => change_text(update, |text| text.chars().take(CUT).collect()),
            Defect::OwnRootField => update["turn"] = 1.into(),
            Defect::SnakeKeys if update.get("messageId").is_some() => {
                update["message_id"] = update["messageId"].take();
                update.as_object_mut().expect("an update").remove("messageId");
            }
            Defect::OneMessageId if update.get("messageId").is_some() => {
                update["messageId"] = "m".into();
            }
            Defect::UntitledTools if kind == "tool_call" => {
                update.as_object_mut().expect("an update").remove("title");
            }
            Defect::PendingTools if update.get("status").is_some() => {
                update["status"] = "pending".into();
            }
            Defect::ShowsTerminal if kind == "tool_call_update" => {
                update["content"] = json!([{"type": "terminal", "terminalId": "t1"}]);
            }
            Defect::HalfPlan if kind == "plan" => {
                for entry in update["entries"].as_array_mut().into_iter().flatten() {
                    entry.as_object_mut().expect("an entry").remove("priority");
                }
            }
            _ => {}
        }
    }

    /// Letters beyond ASCII in one byte each, as far as they have one.
    pub(super) fn latin1(&self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect()
    }
}

fn kind(update: &Value) -> &str {
    update["sessionUpdate"].as_str().unwrap_or_default()
}

fn is_block(update: &Value) -> bool {
    kind(update) == "user_message_chunk" && update["content"]["type"] != "text"
}

fn change_text(update: &mut Value, change: impl Fn(&str) -> String) {
    let changed = update["content"]["text"].as_str().map(change);
    if let Some(text) = changed {
        update["content"]["text"] = text.into();
    }
}

/// Takes out the last message of a kind: all chunks that share its id.
fn remove_last(updates: &mut Vec<Value>, wanted: &str) {
    let last = updates.iter().rev().find(|update| kind(update) == wanted);
    let Some(id) = last.map(|update| update["messageId"].clone()) else { return };
    updates.retain(|update| kind(update) != wanted || update["messageId"] != id);
}

/// Each answer before its question: the messages of a turn, told from its end.
fn agent_first(updates: &mut Vec<Value>) {
    let mut turns: Vec<Vec<Value>> = Vec::new();
    let mut before = "";
    for update in updates.iter() {
        let kind = kind(update);
        if kind == "user_message_chunk" && before != kind {
            turns.push(Vec::new());
        }
        before = kind;
        match turns.last_mut() {
            Some(turn) => turn.push(update.clone()),
            None => turns.push(vec![update.clone()]),
        }
    }
    for turn in &mut turns {
        let users = turn.iter().take_while(|update| kind(update) == "user_message_chunk").count();
        turn.rotate_left(users);
    }
    *updates = turns.concat();
}

fn swap_first(updates: &mut [Value]) {
    let first = updates.iter_mut().find(|update| kind(update) == "user_message_chunk");
    if let Some(update) = first {
        update["sessionUpdate"] = "agent_message_chunk".into();
    }
}

fn stray() -> Value {
    json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-none", "status": "completed"})
}

fn notice() -> Value {
    json!({"sessionUpdate": "notice", "severity": "info", "title": "The model was slow."})
}

fn compaction() -> Value {
    json!({"sessionUpdate": "compaction_update", "compactionId": "c1", "status": "completed"})
}
