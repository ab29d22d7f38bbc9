//! Prompts, from their request to their answer.

use serde_json::{Value, json};

use super::agent::{
    INTERNAL, INVALID_PARAMS, INVALID_REQUEST, Refusal, Solo, Turn, misfit, not_found,
};
use super::defect::Defect;
use super::ground::{Facts, Ground, Kept};
use super::load::cancel_mark;
use super::model::{self, Beat, Scene};
use super::session::session_id;

impl Solo {
    pub(super) fn prompt(&mut self, request: &Value, params: &Value, ground: &mut dyn Ground) {
        match self.begin(request, params, ground) {
            Ok(turn) => {
                self.running.push(turn);
                self.advance(self.running.len() - 1, ground);
            }
            Err(refusal) => self.answer(request, Err(refusal)),
        }
    }

    fn begin(
        &mut self,
        request: &Value,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Turn, Refusal> {
        if !self.initialized {
            return Err((INVALID_REQUEST, "initialize comes first".to_owned()));
        }
        let id = session_id(params)?;
        let blocks = params["prompt"].as_array().ok_or_else(|| misfit("prompt"))?;
        if !self.open.contains(&self.own_name(&id)) {
            return Err(not_found(&id));
        }
        if self.running.iter().any(|turn| turn.session == id) {
            return Err((INVALID_REQUEST, "a prompt of this session is running".to_owned()));
        }
        if self.has(Defect::Sulks) && self.memory.failed_in.as_ref() == Some(&id) {
            return Err((INTERNAL, "the model failed before".to_owned()));
        }
        if self.has(Defect::NeedsFiles) && !self.files {
            return Err((INTERNAL, "a client must serve files".to_owned()));
        }
        let link = |block: &Value| block["type"] == "resource_link";
        if self.has(Defect::RefusesLinks) && blocks.iter().any(link) {
            return Err((INVALID_PARAMS, "links are not for this agent".to_owned()));
        }
        let own = self.own_name(&id);
        let kept = ground.read(&own).ok_or_else(|| not_found(&id))?;
        let beats = self.beats(&own, blocks, &kept, ground);
        Ok(Turn { id: request.clone(), session: id, beats, timer: None, waited: false, asks: None })
    }

    /// Keeps what the user said and decides what is done about it.
    fn beats(
        &mut self,
        id: &str,
        blocks: &[Value],
        kept: &Kept,
        ground: &mut dyn Ground,
    ) -> std::collections::VecDeque<Beat> {
        let turn = kept.turns() + 1;
        let facts = Facts { used_ms: ground.now_ms(), ..kept.facts.clone() };
        ground.put(id, &facts);
        let retried = |block: &Value| {
            block["text"].as_str().is_some_and(|text| text.contains("skep:fail-429"))
        };
        let twice = self.has(Defect::KeepsRetries) && blocks.iter().any(retried);
        let times = if twice { 2 } else { 1 };
        for (block, time) in
            blocks.iter().flat_map(|block| (0..times).map(move |time| (block, time)))
        {
            let said = json!({
                "sessionUpdate": "user_message_chunk",
                "messageId": format!("u{turn}{}", if time > 0 { "-again" } else { "" }),
                "content": block,
            });
            self.keep(id, &said, ground);
        }
        let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let before: Vec<String> = if self.amnesiac.contains(id) {
            Vec::new()
        } else {
            kept.user_texts().map(str::to_owned).collect()
        };
        let prompt = texts.join("\n");
        model::play(&Scene { prompt: &prompt, before: &before, turn, cwd: &facts.cwd })
    }

    fn keep(&mut self, id: &str, update: &Value, ground: &mut dyn Ground) {
        let forgets = self.has(Defect::ReadOnly) && self.loaded.contains(id);
        if !forgets {
            ground.append(id, update);
        }
    }

    /// Goes on with a turn until it waits or is at its end.
    fn advance(&mut self, at: usize, ground: &mut dyn Ground) {
        loop {
            let session = self.running[at].session.clone();
            let own = self.own_name(&session);
            match self.running[at].beats.pop_front() {
                Some(Beat::Tell(update)) => self.told(&own, &session, &update, ground),
                Some(Beat::Wait(ms)) => {
                    self.running[at].timer = Some(self.set_timer(ms));
                    return;
                }
                Some(Beat::Ask(call)) => {
                    let request = self.ask_permission(&session, &call);
                    self.running[at].asks = Some((request, call));
                    return;
                }
                Some(Beat::Work) => {
                    let cwd = ground.read(&own).map(|kept| kept.facts.cwd).unwrap_or_default();
                    ground.work(&cwd);
                }
                // Until it is cancelled.
                Some(Beat::Silence) => return,
                Some(Beat::Fail) => return self.fail(at),
                None => return self.finish(at),
            }
        }
    }

    fn finish(&mut self, at: usize) {
        let turn = self.running.remove(at);
        let stop = if self.has(Defect::OddStop) { "finished" } else { "end_turn" };
        let mut result = json!({"stopReason": stop});
        if self.has(Defect::OwnResultField) {
            result["turns"] = 1.into();
        }
        self.memory.answered = Some(turn.session);
        self.answer(&turn.id, Ok(result));
    }

    fn fail(&mut self, at: usize) {
        let turn = self.running.remove(at);
        self.memory.failed_in = Some(turn.session);
        if !self.has(Defect::MuteOnFailure) {
            self.answer(&turn.id, Err((INTERNAL, "the model failed".to_owned())));
        }
    }

    fn told(&mut self, own: &str, session: &str, update: &Value, ground: &mut dyn Ground) {
        if update["sessionUpdate"] != "usage_update" {
            self.keep(own, update, ground);
        }
        self.tell(session, update);
    }

    pub(super) fn ask_permission(&mut self, session: &str, call: &str) -> i64 {
        let option = |id: &str, name: &str| json!({"optionId": id, "name": name, "kind": id});
        let params = json!({
            "sessionId": session, "toolCall": {"toolCallId": call},
            "options": [option("allow_once", "Allow"), option("reject_once", "Reject")],
        });
        self.ask("session/request_permission", &params)
    }

    /// The client answered a request of ours.
    pub(super) fn answered(&mut self, id: &Value, message: &Value, ground: &mut dyn Ground) {
        let waits = |turn: &Turn| turn.asks.as_ref().is_some_and(|(asked, _)| *id == *asked);
        let Some(at) = self.running.iter().position(waits) else { return };
        let Some((_, call)) = self.running[at].asks.take() else { return };
        let allowed = message["result"]["outcome"]["optionId"] == "allow_once";
        if !allowed {
            self.refused(at, &call);
        }
        self.advance(at, ground);
    }

    /// What was refused is not done, and its call has failed.
    fn refused(&mut self, at: usize, call: &str) {
        let acts = self.has(Defect::ActsAnyway);
        let turn = &mut self.running[at];
        turn.beats.retain(|beat| *beat != Beat::Work || acts);
        for beat in &mut turn.beats {
            if let Beat::Tell(update) = beat
                && update["toolCallId"] == call
            {
                update["status"] = "failed".into();
                update["content"] = json!([]);
            }
        }
    }

    pub(super) fn timer(&mut self, timer: u64, ground: &mut dyn Ground) {
        let due = |turn: &Turn| turn.timer == Some(timer);
        if let Some(at) = self.running.iter().position(due) {
            self.running[at].timer = None;
            self.running[at].waited = true;
            self.advance(at, ground);
        }
    }

    /// `session/cancel`.
    pub(super) fn cancel(&mut self, session: &str, ground: &mut dyn Ground) {
        self.end_turns(session, ground);
    }

    /// Ends what runs in a session, as a cancel does.
    pub(super) fn end_turns(&mut self, session: &str, ground: &mut dyn Ground) {
        let deaf = self.has(Defect::LosesEarlyCancel);
        let ours = |turn: &mut Turn| {
            turn.session == session && !(deaf && turn.timer.is_some() && !turn.waited)
        };
        let ended: Vec<_> = self.running.extract_if(.., ours).collect();
        for turn in ended {
            let own = self.own_name(session);
            ground.append(&own, &cancel_mark());
            self.answer_cancelled(&turn);
        }
    }

    fn answer_cancelled(&mut self, turn: &Turn) {
        let deaf = self.has(Defect::CannotCancel) && self.loaded.contains(&turn.session);
        let silent = turn.timer.is_none() && turn.asks.is_none();
        let outcome =
            if self.has(Defect::CancelIsError) || silent && self.has(Defect::SilenceIsError) {
                Err((INTERNAL, "the prompt was aborted".to_owned()))
            } else {
                Ok(json!({"stopReason": if deaf { "end_turn" } else { "cancelled" }}))
            };
        self.answer(&turn.id, outcome);
        if self.has(Defect::DenseLeftovers) {
            let told = |beat: &Beat| matches!(beat, Beat::Tell(_));
            // A slow turn has one piece between two pauses.
            let dense = turn.beats.iter().take(2).all(told);
            if let Some(Beat::Tell(update)) = turn.beats.front().filter(|_| dense) {
                self.tell(&turn.session, update);
            }
        }
        if self.has(Defect::TalksAfterCancel) {
            self.tell(
                &turn.session,
                &model::chunk("agent_message_chunk", "late", "One more thing."),
            );
        }
    }

    /// What follows an answer.
    pub(super) fn afterwards(&mut self, method: &str, params: &Value, ground: &mut dyn Ground) {
        if method == "session/new"
            && let Some(id) = self.latest(ground)
        {
            if self.has(Defect::StrayMethod) {
                self.send(&json!({"jsonrpc": "2.0", "method": "skep/hello", "params": {}}));
            }
            self.tell_commands(&id);
        }
        if method == "session/close"
            && self.has(Defect::CloseWaits)
            && let Some(at) =
                self.running.iter().position(|turn| params["sessionId"] == turn.session.as_str())
        {
            let turn = self.running.remove(at);
            self.answer(&turn.id, Ok(json!({"stopReason": "end_turn"})));
        }
    }

    /// The session that this process made last.
    fn latest(&self, ground: &dyn Ground) -> Option<String> {
        let begins = format!("S{}-{}-", self.process, self.minted);
        ground.ids().into_iter().find(|id| id.starts_with(&begins))
    }
}
