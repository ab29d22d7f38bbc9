//! The choices of a session: model, mode, and both as configuration options.

use std::sync::Arc;

use serde_json::{Map, Value};
use skep_trace::{Answer, RpcError, Text};

use super::answer::{INVALID_PARAMS, not_found};
use super::offer;
use super::step::Step;
use super::task::Task;

impl Step<'_> {
    /// `session/set_model`: any model that the cast offers.
    pub(super) fn set_model(&mut self, task: &mut Task, session: &Text, model: &Text) {
        let outcome = self.choose(session, "model", model);
        self.answer(task, outcome.map(|()| Answer::empty()));
    }

    /// `session/set_mode`: any mode that the cast offers.
    pub(super) fn set_mode(&mut self, task: &mut Task, session: &Text, mode: &Text) {
        let outcome = self.choose(session, "mode", mode);
        self.answer(task, outcome.map(|()| Answer::empty()));
    }

    /// `session/set_config_option`: `model` and `mode` as options; the answer lists them all.
    pub(super) fn set_option(&mut self, task: &mut Task, params: &Value) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(Text::from);
        let wanted = (text("sessionId"), text("configId"), text("value"));
        let (Some(session), Some(option), Some(value)) = wanted else {
            let error = RpcError::new(INVALID_PARAMS, "these parameters do not fit");
            return self.answer(task, Err(error));
        };
        let outcome = self.choose(&session, &option, &value).map(|()| self.options(&session));
        self.answer(task, outcome);
    }

    fn choose(&mut self, id: &Text, option: &str, value: &Text) -> Result<(), RpcError> {
        if !self.agent.open.contains(id) {
            return Err(not_found(id));
        }
        let cast = &self.agent.cast;
        let offered: &[Text] = match option {
            "model" => &cast.models,
            "mode" => &cast.modes,
            _ => &[],
        };
        let session = self.disk.sessions.get_mut(id).ok_or_else(|| not_found(id))?;
        if !offered.contains(value) {
            let message = format!("this agent offers no {option} `{value}`");
            return Err(RpcError::new(INVALID_PARAMS, &message));
        }
        let chosen = if option == "model" { &mut session.model } else { &mut session.mode };
        *chosen = Some(Text::clone(value));
        Ok(())
    }

    fn options(&self, session: &Text) -> Answer {
        let session = self.disk.session(session);
        let list = offer::options(
            &self.agent.cast,
            session.and_then(super::Session::model),
            session.and_then(super::Session::mode),
        );
        let extra = Map::from_iter([("configOptions".to_owned(), list)]);
        Answer { extra: Some(Arc::new(extra)), ..Answer::default() }
    }

    /// The models and modes that new, load and resume answer with; nothing where no choice is
    /// offered. What a session chose holds when it is loaded again.
    pub(super) fn choices(&mut self, id: &str) -> Option<Arc<Map<String, Value>>> {
        let session = self.disk.session(id);
        let model = session.and_then(super::Session::model);
        let mode = session.and_then(super::Session::mode);
        let cast = &self.agent.cast;
        if model.is_none() && mode.is_none() {
            return self.agent.defaults.get_or_init(|| offer::choices(cast, None, None)).clone();
        }
        offer::choices(cast, model, mode)
    }
}
