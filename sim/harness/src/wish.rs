//! The model and the permission mode that sessions are wished to have, and what the agent made of
//! the wishes: only what it really accepted is recorded (H-9).

use std::sync::Arc;

use serde_json::{Value, json};
use skep_store::Config;
use skep_trace::{Answer, Call, Text};

/// What a wish is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    Model,
    Mode,
}

/// The wishes of one session: what is accepted so far, and what is still to be asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) accepted: Config,
    /// To be asked, the next one last.
    to_ask: Vec<(Aspect, Text, Call)>,
    asked: Option<(Aspect, Text)>,
}

/// What the agent says about one aspect in its answer to a new, load or resume.
enum Offer {
    /// The session already has it.
    Has,
    /// It can be asked for, like this.
    Ask(Call),
    /// It cannot be had.
    No,
    /// The agent does not talk about it.
    Silent,
}

impl Wishes {
    /// Compares what is wanted with what the agent's answer says about the session.
    pub(crate) fn new(wanted: &Config, session: &Text, answer: &Answer, loaded: bool) -> Self {
        let mut wishes = Self::default();
        wishes.add(Aspect::Mode, wanted.mode.as_ref(), session, answer, loaded);
        wishes.add(Aspect::Model, wanted.model.as_ref(), session, answer, loaded);
        wishes
    }

    fn add(
        &mut self,
        aspect: Aspect,
        wanted: Option<&Text>,
        session: &Text,
        answer: &Answer,
        loaded: bool,
    ) {
        let Some(wanted) = wanted else { return };
        match offer(aspect, wanted, session, answer) {
            Offer::Has => self.accept(aspect, wanted.clone()),
            Offer::Ask(call) => self.to_ask.push((aspect, wanted.clone(), call)),
            // A loaded session may have fallen back to the agent's default without a word.
            Offer::Silent if loaded => {
                self.to_ask.push((aspect, wanted.clone(), plain(aspect, wanted, session)));
            }
            Offer::No | Offer::Silent => {}
        }
    }

    fn accept(&mut self, aspect: Aspect, value: Text) {
        match aspect {
            Aspect::Model => self.accepted.model = Some(value),
            Aspect::Mode => self.accepted.mode = Some(value),
        }
    }

    /// The next request, if a wish is still to be asked for.
    pub(crate) fn next(&mut self) -> Option<Call> {
        let (aspect, value, call) = self.to_ask.pop()?;
        self.asked = Some((aspect, value));
        Some(call)
    }

    /// The agent answered the last request.
    pub(crate) fn answered(&mut self, accepted: bool) {
        if let Some((aspect, value)) = self.asked.take()
            && accepted
        {
            self.accept(aspect, value);
        }
    }
}

fn offer(aspect: Aspect, wanted: &Text, session: &Text, answer: &Answer) -> Offer {
    let from_options = option(aspect, answer).map(|option| {
        if option["currentValue"] == **wanted {
            return Offer::Has;
        }
        match (lists(&option["options"], "value", wanted), option["id"].as_str()) {
            (true, Some(id)) => Offer::Ask(set_option(id, wanted, session)),
            _ => Offer::No,
        }
    });
    from_options.unwrap_or_else(|| older_offer(aspect, wanted, session, answer))
}

/// The form from before configuration options: `models` and `modes`.
fn older_offer(aspect: Aspect, wanted: &Text, session: &Text, answer: &Answer) -> Offer {
    let (field, current, list, id) = match aspect {
        Aspect::Model => ("models", "currentModelId", "availableModels", "modelId"),
        Aspect::Mode => ("modes", "currentModeId", "availableModes", "id"),
    };
    let Some(said) = answer.field(field).filter(|said| said.is_object()) else {
        return Offer::Silent;
    };
    if said[current] == **wanted {
        return Offer::Has;
    }
    if lists(&said[list], id, wanted) {
        return Offer::Ask(plain(aspect, wanted, session));
    }
    Offer::No
}

fn option(aspect: Aspect, answer: &Answer) -> Option<&Value> {
    let category = match aspect {
        Aspect::Model => "model",
        Aspect::Mode => "mode",
    };
    let options = answer.field("configOptions")?.as_array()?;
    options.iter().find(|option| option["category"] == category)
}

fn lists(items: &Value, key: &str, wanted: &str) -> bool {
    items.as_array().is_some_and(|items| items.iter().any(|item| item[key] == *wanted))
}

fn set_option(id: &str, wanted: &Text, session: &Text) -> Call {
    let params = json!({"sessionId": &**session, "configId": id, "value": &**wanted});
    Call::Other { method: "session/set_config_option".into(), params: Arc::new(params) }
}

fn plain(aspect: Aspect, wanted: &Text, session: &Text) -> Call {
    let session_id = session.clone();
    match aspect {
        Aspect::Model => Call::SetModel { session_id, model_id: wanted.clone() },
        Aspect::Mode => Call::SetMode { session_id, mode_id: wanted.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(answer: Value, loaded: bool) -> Wishes {
        let wanted = Config { model: Some("m2".into()), mode: None };
        Wishes::new(&wanted, &"s1".into(), &Answer::from_json(answer), loaded)
    }

    fn offering(current: &str) -> Value {
        let models = json!([{"modelId": "m1"}, {"modelId": "m2"}]);
        json!({"models": {"currentModelId": current, "availableModels": models}})
    }

    #[test]
    fn a_model_is_recorded_once_the_agent_accepts_it() {
        let mut wishes = wishes(offering("m1"), false);
        assert!(matches!(wishes.next(), Some(Call::SetModel { .. })));
        assert_eq!(wishes.accepted.model, None);
        wishes.answered(true);
        assert_eq!(wishes.accepted.model.as_deref(), Some("m2"));
        assert!(wishes.next().is_none());
    }

    #[test]
    fn a_rejected_model_is_recorded_as_the_default() {
        let mut wishes = wishes(offering("m1"), false);
        wishes.next();
        wishes.answered(false);
        assert_eq!(wishes.accepted, Config::default());
    }

    #[test]
    fn a_model_that_the_session_already_has_is_not_asked_for() {
        let mut wishes = wishes(offering("m2"), false);
        assert!(wishes.next().is_none());
        assert_eq!(wishes.accepted.model.as_deref(), Some("m2"));
    }

    #[test]
    fn a_loaded_session_is_asked_again_where_the_agent_says_nothing() {
        assert!(wishes(json!({}), true).next().is_some());
        assert!(wishes(json!({}), false).next().is_none());
    }

    #[test]
    fn configuration_options_come_before_the_older_form() {
        let option = json!({
            "id": "llm", "category": "model", "currentValue": "m1", "options": [{"value": "m2"}],
        });
        let mut wishes = wishes(json!({"configOptions": [option]}), false);
        let Some(Call::Other { method, params }) = wishes.next() else { panic!() };
        assert_eq!(&*method, "session/set_config_option");
        assert_eq!(params["configId"], "llm");
    }
}
