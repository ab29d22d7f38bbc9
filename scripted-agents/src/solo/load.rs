//! `session/load`, and how a history is replayed.

use serde_json::{Value, json};

use super::agent::{INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Refusal, Solo, misfit, not_found};
use super::defect::Defect;
use super::ground::{Facts, Ground, Kept};
use super::model;
use super::session::session_id;
use super::spoil::Spoil;

impl Solo {
    pub(super) fn load_request(
        &mut self,
        request: &Value,
        params: &Value,
        ground: &mut dyn Ground,
    ) {
        match self.loadable(params, ground) {
            Ok((id, kept, setup)) => self.load(request, params, (id, kept, setup), ground),
            Err((INVALID_PARAMS, message)) if self.has(Defect::WrongParamsCode) => {
                self.answer(request, Err((INTERNAL, message)));
            }
            Err(refusal) => self.answer(request, Err(refusal)),
        }
    }

    /// What a load is about, if it can be carried out.
    fn loadable(
        &mut self,
        params: &Value,
        ground: &dyn Ground,
    ) -> Result<(String, Kept, Facts), Refusal> {
        if !self.initialized {
            return Err((INVALID_REQUEST, "initialize comes first".to_owned()));
        }
        let id = session_id(params)?;
        let setup = self.facts(params, true, ground)?;
        if !params["_meta"].is_null() && self.has(Defect::ReadsMeta) {
            return Err(misfit("_meta"));
        }
        let Some((id, kept)) = self.found(&id, ground) else {
            if self.has(Defect::UpsertsUnknown) {
                return Ok((id, Kept::default(), setup));
            }
            self.memory.load_failed = true;
            self.memory.failed_ids.insert(id.clone());
            return Err(not_found(&id));
        };
        if std::mem::take(&mut self.memory.load_failed) && self.has(Defect::DeafAfterError) {
            return Err((INTERNAL, "the load before failed".to_owned()));
        }
        if self.cannot(&id, &kept) {
            return Err((INTERNAL, "this session cannot be loaded".to_owned()));
        }
        Ok((id, kept, setup))
    }

    fn found(&self, id: &str, ground: &dyn Ground) -> Option<(String, Kept)> {
        let folded = || {
            let ids = ground.ids();
            let id = ids.iter().find(|one| one.eq_ignore_ascii_case(id))?;
            Some((id.clone(), ground.read(id)?))
        };
        let kept = self
            .known(id, ground)
            .filter(|kept| !self.has(Defect::OneClient) || kept.facts.client == self.client);
        let kept = kept.map(|kept| (self.own_name(id), kept));
        if self.has(Defect::FoldsCase) { kept.or_else(folded) } else { kept }
    }

    fn cannot(&self, id: &str, kept: &Kept) -> bool {
        let lives = kept.facts.born == self.process && self.open.contains(id);
        lives && self.has(Defect::LosesLive)
            || kept.history.is_empty() && self.has(Defect::NeedsAPrompt)
            || kept.history.iter().any(is_cancel_mark) && self.has(Defect::BreaksOnCancel)
            || kept.was_cut() && self.has(Defect::LosesCut)
    }

    fn load(
        &mut self,
        request: &Value,
        params: &Value,
        (id, kept, setup): (String, Kept, Facts),
        ground: &mut dyn Ground,
    ) {
        let busy = self.running.iter().any(|turn| turn.session == id);
        if busy && self.has(Defect::HangsOnBusyLoad) {
            return;
        }
        if self.has(Defect::PrintsLog) {
            self.write(format!("loading {id}\n").into_bytes());
        }
        let facts = self.loaded_facts(params, &kept.facts, &setup, ground);
        if !self.servers_of(params, &kept.facts, ground) && self.has(Defect::HangsOnDeadServer) {
            return;
        }
        // What was never made is not made by loading it either.
        if ground.read(&id).is_some() {
            ground.put(&id, &facts);
        }
        self.disturb(&id);
        self.enter(&id, self.has(Defect::Amnesia));
        self.replay(request, &id, &kept);
        self.mix(&id, ground);
        self.answer_load(request, &id, &facts);
        self.after_load(&id, &kept, ground);
    }

    fn loaded_facts(
        &self,
        params: &Value,
        kept: &Facts,
        setup: &Facts,
        ground: &dyn Ground,
    ) -> Facts {
        let mut facts = self.moved(kept, setup);
        if self.has(Defect::LoadsAtHome) {
            facts.cwd = ground.birthplace();
        }
        if self.has(Defect::ForgetsMode) {
            facts.mode = None;
        }
        let servers = params["mcpServers"].as_array().cloned().unwrap_or_default();
        let alive = servers.iter().any(|server| server["name"] != "dead");
        if alive {
            facts.servers = servers;
        }
        facts
    }

    fn servers_of(&mut self, params: &Value, kept: &Facts, ground: &mut dyn Ground) -> bool {
        if self.has(Defect::SkipsServers) {
            return true;
        }
        let given = params["mcpServers"].as_array().is_some_and(|list| !list.is_empty());
        if !given && self.has(Defect::RemembersServers) {
            kept.servers.iter().for_each(|server| {
                ground.start(server);
            });
        }
        self.start_servers(params, ground)
    }

    /// What broken agents ask for, or say elsewhere, while they load.
    fn disturb(&mut self, id: &str) {
        let session = json!({"sessionId": id});
        if self.has(Defect::AsksOnLoad) {
            self.ask_permission(id, "call-on-load");
        }
        if self.has(Defect::ReadsOnLoad) {
            self.ask("fs/read_text_file", &json!({"sessionId": id, "path": "/etc/hostname"}));
        }
        if self.has(Defect::TerminalOnLoad) {
            self.ask("terminal/create", &json!({"sessionId": id, "command": "true"}));
        }
        if self.has(Defect::AsksOnForm) {
            let mut form = session;
            form["message"] = "Which one?".into();
            form["mode"] = "form".into();
            form["requestedSchema"] = json!({"type": "object", "properties": {}});
            self.ask("elicitation/create", &form);
        }
        if self.has(Defect::Leaks)
            && let Some(other) = self.open.iter().find(|open| *open != id).cloned()
        {
            self.tell(&other, &model::chunk("agent_message_chunk", "leak", "meanwhile"));
        }
    }

    /// Replays a session's history, as far as the agent is not broken.
    pub(super) fn replay(&mut self, request: &Value, id: &str, kept: &Kept) {
        if std::mem::take(&mut self.memory.upset) {
            return;
        }
        let count = self.memory.loads.entry(id.to_owned()).or_default();
        *count += 1;
        let again = *count > 1;
        let spoil = Spoil { defect: self.defect, again };
        let updates: Vec<_> =
            kept.history.iter().filter(|update| !is_cancel_mark(update)).cloned().collect();
        let fresh = self.memory.answered.take().is_some_and(|answered| answered == id);
        let updates = match fresh && self.has(Defect::WritesBehind) {
            true => without_last_turn(updates),
            false => updates,
        };
        let mut updates = spoil.history(updates);
        let last = updates.pop();
        for update in &updates {
            self.tell_spoiled(id, update, &spoil);
        }
        if self.has(Defect::ReplaysLate) {
            // The answer is written now; the caller's own answer would be the second.
            self.answer(request, Ok(json!({})));
        }
        let Some(last) = last else { return };
        let id = if self.has(Defect::OtherCase) { id.to_uppercase() } else { id.to_owned() };
        self.tell_spoiled(&id, &last, &spoil);
    }

    fn tell_spoiled(&mut self, id: &str, update: &Value, spoil: &Spoil) {
        let before = self.out.len();
        self.tell(id, update);
        if self.has(Defect::WritesLatin1)
            && let Some(super::agent::Effect::Write(bytes)) = self.out.get_mut(before)
        {
            *bytes = spoil.latin1(bytes);
        }
    }

    fn mix(&mut self, id: &str, ground: &dyn Ground) {
        let last = self.memory.last_load.replace(id.to_owned());
        if self.has(Defect::MixesLoads)
            && let Some(other) = last.filter(|last| last != id)
            && let Some(kept) = ground.read(&other)
        {
            let history = kept.history.iter().filter(|update| !is_cancel_mark(update));
            history.for_each(|update| self.tell(id, update));
        }
    }

    fn answer_load(&mut self, request: &Value, id: &str, facts: &Facts) {
        let mut result = self.choices(facts);
        if self.has(Defect::OldResult) {
            result["sessionId"] = id.into();
        }
        if self.has(Defect::NullResult) {
            result = Value::Null;
        }
        if !self.has(Defect::ReplaysLate) {
            self.answer(request, Ok(result.clone()));
        }
        if self.has(Defect::AnswersTwice) {
            self.answer(request, Ok(result));
        }
    }

    fn after_load(&mut self, id: &str, kept: &Kept, ground: &mut dyn Ground) {
        if self.has(Defect::AddsOnLoad) && !kept.history.is_empty() {
            ground.append(id, &model::chunk("agent_message_chunk", "back", "Welcome back."));
        }
        self.tell_commands(id);
        if !self.has(Defect::SilentUsage) && !kept.history.is_empty() {
            self.tell(id, &model::usage(kept.history.len()));
        }
    }

    pub(super) fn tell_commands(&mut self, id: &str) {
        self.tell(
            id,
            &json!({
                "sessionUpdate": "available_commands_update",
                "availableCommands": [{"name": "help", "description": "what there is"}],
            }),
        );
    }
}

/// All but what began with the last message of the user.
fn without_last_turn(mut updates: Vec<Value>) -> Vec<Value> {
    let user = |update: &Value| update["sessionUpdate"] == "user_message_chunk";
    let last = updates.iter().rposition(user).map(|at| updates[at]["messageId"].clone());
    let first = updates
        .iter()
        .position(|update| user(update) && Some(&update["messageId"]) == last.as_ref());
    updates.truncate(first.unwrap_or(updates.len()));
    updates
}

/// A turn that was cancelled is marked in the history; nobody else is told.
pub(super) fn cancel_mark() -> Value {
    json!({"sessionUpdate": "skep_cancelled"})
}

fn is_cancel_mark(update: &Value) -> bool {
    update["sessionUpdate"] == "skep_cancelled"
}
