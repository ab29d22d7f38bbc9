//! The channels that the agent is a member of, and what sessions in them are told of their origin
//! (H-30, H-31).

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use skep_mutant::Mutant;
use skep_plan::ChannelKind;
use skep_trace::{ClientMsg, Filter, NostrEvent, Text};

use crate::closed::Closed;
use crate::config::HarnessConfig;

/// What a channel's subscription is called: this and its id.
pub(crate) const SUB_PREFIX: &str = "ch-";

/// The kinds of events that are messages to the agent.
pub(crate) const MESSAGE_KINDS: [u16; 3] = [9, 46010, 40007];

/// The variable that tells an MCP server where the conversation takes place.
const ORIGIN_VARIABLE: &str = "BUZZ_GIT_ORIGIN_CHANNEL_ID";

/// One channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: Text,
    pub(crate) kind: ChannelKind,
    pub(crate) name: Text,
    /// Its metadata was found. Until then it is treated as the most careful kind, a DM.
    pub(crate) known: bool,
    /// What is made of the above, once somebody speaks here.
    words: OnceCell<Words>,
    sub: Text,
    /// The earliest instant that is ever asked for, in seconds.
    floor_s: u64,
    /// The newest message so far, in seconds.
    newest_s: u64,
    /// What became of its subscription.
    pub(crate) closed: Closed,
    /// The relay has told what it had stored before the process started.
    pub(crate) caught_up: bool,
    /// It was subscribed to, or will be with the next connection.
    pub(crate) subscribed: bool,
}

/// What a session is told of the channel that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// The first paragraph of every prompt.
    pub(crate) context: Text,
    /// `_meta`.
    pub(crate) meta: Option<Arc<Value>>,
    /// `mcpServers` of a new session.
    pub(crate) mcp: Arc<Value>,
}

impl Channel {
    /// A channel of which nothing but its id is known.
    pub(crate) fn unknown(id: Text, floor_s: u64) -> Self {
        Self {
            sub: format!("{SUB_PREFIX}{id}").into(),
            name: id.clone(),
            id,
            kind: ChannelKind::Dm,
            known: false,
            words: OnceCell::new(),
            floor_s,
            newest_s: 0,
            closed: Closed::default(),
            caught_up: false,
            subscribed: false,
        }
    }

    /// Takes in what its metadata says (kind 39000).
    pub(crate) fn learn(&mut self, metadata: &NostrEvent) {
        self.name = metadata.tag("name").unwrap_or(&self.id).into();
        self.kind = kind_of(metadata);
        self.known = true;
        self.words = OnceCell::new();
    }

    /// What a session here is told of it.
    pub(crate) fn words(&self, config: &HarnessConfig) -> &Words {
        self.words.get_or_init(|| {
            let public = self.kind == ChannelKind::Stream;
            let named = public || config.mutants.has(Mutant::OriginInPrivate);
            Words {
                context: self.context(),
                meta: self.meta(config),
                mcp: Arc::new(mcp_servers(config, named.then_some(&*self.id))),
            }
        })
    }

    fn context(&self) -> Text {
        let place = match self.kind {
            ChannelKind::Stream => "the channel",
            ChannelKind::Private => "the private channel",
            ChannelKind::Dm => "a direct conversation,",
        };
        format!("[Context]\nThis is {place} #{} ({}).", self.name, self.id).into()
    }

    fn meta(&self, config: &HarnessConfig) -> Option<Arc<Value>> {
        let title = title(config, &self.name);
        if config.mutants.has(Mutant::NoOriginMeta) {
            return title.map(|title| Arc::new(json!({"sessionTitle": title})));
        }
        let mut meta = json!({"channelId": &*self.id, "channelType": kind_word(self.kind)});
        if let Some(title) = title {
            meta["sessionTitle"] = Value::from(title);
        }
        Some(Arc::new(meta))
    }

    /// A message was seen. A date in the future must not push the horizon of the next question
    /// beyond what is there (H-82).
    pub(crate) fn saw(&mut self, created_at: u64, now_s: u64) {
        self.newest_s = self.newest_s.max(created_at.min(now_s));
    }

    /// The subscription to its messages, with what came since it was last heard of.
    pub(crate) fn request(&self, agent: &Text, overlap_s: u64, since_s: Option<u64>) -> ClientMsg {
        let horizon = self.floor_s.max(self.newest_s.saturating_sub(overlap_s));
        let filter = Filter {
            kinds: Some(MESSAGE_KINDS.to_vec()),
            since: Some(since_s.unwrap_or(horizon)),
            tags: vec![('h', vec![self.id.clone()]), ('p', vec![agent.clone()])],
            ..Filter::default()
        };
        ClientMsg::Req { sub: self.sub.clone(), filters: vec![filter] }
    }

    /// The end of its subscription.
    pub(crate) fn close(&self) -> ClientMsg {
        ClientMsg::Close { sub: self.sub.clone() }
    }
}

/// The word for a channel's type on the wire.
pub(crate) fn kind_word(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Stream => "stream",
        ChannelKind::Private => "private",
        ChannelKind::Dm => "dm",
    }
}

fn kind_of(metadata: &NostrEvent) -> ChannelKind {
    let tagged =
        |name: &str| metadata.tags.iter().any(|tag| tag.first().is_some_and(|it| **it == *name));
    match metadata.tag("t") {
        Some("dm") => ChannelKind::Dm,
        _ if tagged("hidden") => ChannelKind::Dm,
        Some("private") => ChannelKind::Private,
        _ if tagged("private") => ChannelKind::Private,
        _ => ChannelKind::Stream,
    }
}

/// `sessionTitle`, where a title is wished for.
pub(crate) fn title(config: &HarnessConfig, place: &str) -> Option<String> {
    config.settings.title.as_ref().map(|title| format!("{title} · #{place}"))
}

/// `mcpServers`, naming the channel where that is public knowledge.
pub(crate) fn mcp_servers(config: &HarnessConfig, channel: Option<&str>) -> Value {
    if !config.settings.mcp {
        return json!([]);
    }
    let server = &config.mcp;
    let mut env: Vec<Value> =
        server.env.iter().map(|(name, value)| variable(name, value)).collect();
    env.extend(channel.map(|channel| variable(ORIGIN_VARIABLE, channel)));
    json!([{"name": &*server.name, "command": &*server.command, "args": [], "env": env}])
}

fn variable(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value})
}

/// All channels that the agent is a member of.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    by_id: BTreeMap<Text, Channel>,
}

impl Channels {
    pub(crate) fn get(&self, id: &str) -> Option<&Channel> {
        self.by_id.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Channel> {
        self.by_id.get_mut(id)
    }

    pub(crate) fn insert(&mut self, channel: Channel) {
        self.by_id.insert(channel.id.clone(), channel);
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<Channel> {
        self.by_id.remove(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.by_id.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Channel> {
        self.by_id.values_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }
}

#[cfg(test)]
mod tests {
    use skep_mutant::Mutants;
    use skep_trace::Hex32;

    use super::*;

    fn config() -> HarnessConfig {
        let mut config = HarnessConfig::new("ws://r", Hex32([1; 32]), Hex32([2; 32]), "/w");
        config.settings.mcp = true;
        config
    }

    fn channel(tags: &[&[&str]]) -> Channel {
        let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect());
        let metadata = NostrEvent::new(Hex32::default(), 0, 39000, tags.collect(), "".into());
        let mut channel = Channel::unknown("c1".into(), 0);
        channel.learn(&metadata);
        channel
    }

    fn origin_variable<'a>(channel: &'a Channel, config: &HarnessConfig) -> Option<&'a str> {
        let env = channel.words(config).mcp[0]["env"].as_array().unwrap();
        let found = env.iter().find(|variable| variable["name"] == ORIGIN_VARIABLE)?;
        found["value"].as_str()
    }

    #[test]
    fn only_public_channels_are_named_to_mcp_servers() {
        let config = config();
        assert_eq!(origin_variable(&channel(&[&["t", "stream"]]), &config), Some("c1"));
        assert_eq!(origin_variable(&channel(&[&["private"]]), &config), None);
        assert_eq!(origin_variable(&channel(&[&["hidden"]]), &config), None);
        assert_eq!(origin_variable(&Channel::unknown("c1".into(), 0), &config), None);
        let leaky = HarnessConfig { mutants: Mutants::only(Mutant::OriginInPrivate), ..config };
        assert_eq!(origin_variable(&channel(&[&["private"]]), &leaky), Some("c1"));
    }

    #[test]
    fn a_sessions_meta_names_channel_type_and_title() {
        let mut config = config();
        config.settings.title = Some("Bee".into());
        let dm = channel(&[&["name", "hive"], &["t", "dm"]]);
        let wanted = json!({"channelId": "c1", "channelType": "dm", "sessionTitle": "Bee · #hive"});
        assert_eq!(**dm.words(&config).meta.as_ref().unwrap(), wanted);
    }

    #[test]
    fn a_message_from_the_future_does_not_move_the_horizon_past_now() {
        let mut channel = Channel::unknown("c1".into(), 90);
        channel.saw(1_000_000, 100);
        let ClientMsg::Req { filters, .. } = channel.request(&"a".into(), 5, None) else {
            panic!()
        };
        assert_eq!(filters[0].since, Some(95));
    }
}
