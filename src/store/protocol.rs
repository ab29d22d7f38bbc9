//! The line protocol: what is asked of a store and what it may answer, as lines of JSON.
//!
//! Pure: texts in, texts out. `docs/store.md` is the page for whoever writes an adapter.

use serde_json::{Map, Value, json};
use skep_store::ops::{Config, Key, Lookup, StoreAnswer, StoreOp};
use skep_store::suite::{Feature, Scope};
use skep_trace::{Hex32, Receipt, Text};

/// The version that is spoken.
pub const PROTOCOL: u64 = 1;

/// What a store offers, as its answer to `open` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// What it calls itself.
    pub name: Text,
    /// What it has beyond `get`, `put` and `remove`.
    pub features: Vec<Feature>,
    /// How long an unused entry lives; `None` is for ever.
    pub life_ms: Option<u64>,
    /// The write with the latest clock wins, and not the one that came last in real time.
    pub by_clock: bool,
}

/// One answer, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// What was answered, or the store's own words for why not.
    pub(super) result: Result<Map<String, Value>, Text>,
    pub(super) warnings: Vec<Text>,
}

/// The names of features in the protocol.
const FEATURES: [(&str, Feature); 4] = [
    ("remove_if", Feature::RemoveIf),
    ("list", Feature::List),
    ("threads", Feature::Threads),
    ("configuration", Feature::Configuration),
];

pub(super) fn feature_name(feature: Feature) -> &'static str {
    let named = FEATURES.iter().find(|(_, one)| *one == feature);
    named.expect("every feature has a name").0
}

/// The request that comes first.
pub(super) fn open(dir: &str, scope: &Scope, now_ms: u64) -> String {
    let relay = &*scope.relay;
    let pubkey = scope.pubkey.to_string();
    json!({"op": "open", "protocol": PROTOCOL, "dir": dir, "relay": relay, "pubkey": pubkey,
        "now": now_ms})
    .to_string()
}

/// The request of an operation; what a store need not know of stands there as null.
pub(super) fn request(op: &StoreOp, now_ms: u64) -> String {
    let mut line = match op {
        StoreOp::Get { key, config } => with_config(of_key("get", key), config),
        StoreOp::Put { key, session, config } => {
            let mut line = with_config(of_key("put", key), config);
            line["session"] = (**session).into();
            line
        }
        StoreOp::Remove { key } => of_key("remove", key),
        StoreOp::RemoveIf { key, expected } => {
            let mut line = of_key("remove_if", key);
            line["expected"] = (**expected).into();
            line
        }
        StoreOp::RemoveChannel { channel } => json!({"op": "remove_channel", "channel": **channel}),
    };
    line["now"] = now_ms.into();
    line.to_string()
}

pub(super) fn list(now_ms: u64) -> String {
    json!({"op": "list", "now": now_ms}).to_string()
}

pub(super) fn close() -> String {
    json!({"op": "close"}).to_string()
}

fn of_key(op: &str, key: &Key) -> Value {
    let root = key.root.map(|root| root.to_string());
    json!({"op": op, "channel": *key.channel, "root": root})
}

fn with_config(mut line: Value, config: &Config) -> Value {
    line["model"] = config.model.as_deref().into();
    line["mode"] = config.mode.as_deref().into();
    line
}

/// What an operation asks for beyond `get`, `put` and `remove`.
pub(super) fn needs(op: &StoreOp) -> Option<Feature> {
    let of = |key: &Key, config: &Config| match (key.root, config == &Config::default()) {
        (Some(_), _) => Some(Feature::Threads),
        (None, false) => Some(Feature::Configuration),
        (None, true) => None,
    };
    match op {
        StoreOp::Get { key, config } | StoreOp::Put { key, config, .. } => of(key, config),
        StoreOp::Remove { key } => of(key, &Config::default()),
        StoreOp::RemoveIf { .. } => Some(Feature::RemoveIf),
        StoreOp::RemoveChannel { .. } => Some(Feature::Threads),
    }
}

/// Takes an answer apart.
///
/// # Errors
/// When it is none: what is wrong with it, for a person.
pub(super) fn answer(line: &str) -> Result<Answer, String> {
    let value: Value = serde_json::from_str(line).map_err(|_| "it is no JSON".to_owned())?;
    let Value::Object(map) = value else { return Err("it is no JSON object".to_owned()) };
    let warnings = match map.get("warnings") {
        None => Vec::new(),
        Some(Value::Array(texts)) => texts.iter().map(plain).collect(),
        Some(_) => return Err("`warnings` is no list".to_owned()),
    };
    let result = match (map.get("ok").and_then(Value::as_bool), map.get("error")) {
        (Some(true), _) => Ok(map),
        (Some(false), Some(Value::String(why))) if !why.is_empty() => Err(why.as_str().into()),
        (Some(false), _) => return Err("it refuses without an `error`".to_owned()),
        (None, _) => return Err("it has no `ok` that is true or false".to_owned()),
    };
    Ok(Answer { result, warnings })
}

/// A warning is a text; anything else is shown as it stands.
fn plain(value: &Value) -> Text {
    value.as_str().map_or_else(|| value.to_string().into(), Into::into)
}

/// What the answer to `open` says.
///
/// # Errors
/// When it does not say it rightly.
pub(super) fn offers(map: &Map<String, Value>) -> Result<Offers, String> {
    match map.get("protocol").and_then(Value::as_u64) {
        Some(PROTOCOL) => {}
        other => return Err(format!("`protocol` is {other:?}, not {PROTOCOL}")),
    }
    let listed = match map.get("offers") {
        None => &Vec::new(),
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err("`offers` is no list".to_owned()),
    };
    let one = |value: &Value| {
        let named = FEATURES.iter().find(|(name, _)| value.as_str() == Some(name));
        named.map(|(_, feature)| *feature).ok_or_else(|| {
            let names = FEATURES.map(|(name, _)| name).join("`, `");
            format!("`offers` has {value}; what can be offered is `{names}`")
        })
    };
    let life_ms = match map.get("life_ms") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_u64().ok_or("`life_ms` is no number of milliseconds")?),
    };
    let by_clock = match map.get("order").and_then(Value::as_str) {
        None | Some("time") => false,
        Some("clock") => true,
        Some(_) => return Err("`order` is neither `time` nor `clock`".to_owned()),
    };
    Ok(Offers {
        name: map.get("name").and_then(Value::as_str).unwrap_or("unnamed").into(),
        features: listed.iter().map(one).collect::<Result<_, _>>()?,
        life_ms,
        by_clock,
    })
}

/// What a store answered to an operation.
///
/// # Errors
/// When a field is missing or of the wrong type.
pub(super) fn result(op: &StoreOp, map: &Map<String, Value>) -> Result<StoreAnswer, String> {
    Ok(match op {
        StoreOp::Get { .. } => StoreAnswer::Got(lookup(map)?),
        StoreOp::RemoveIf { .. } => {
            let removed = map.get("removed").and_then(Value::as_bool);
            StoreAnswer::Removed(removed.ok_or("it has no `removed` that is true or false")?)
        }
        _ => StoreAnswer::Done,
    })
}

fn lookup(map: &Map<String, Value>) -> Result<Lookup, String> {
    let incompatible = map.get("incompatible").and_then(Value::as_bool).unwrap_or(false);
    match map.get("session") {
        Some(Value::Null) => Ok(Lookup::Absent),
        Some(Value::String(session)) if incompatible => {
            Ok(Lookup::Incompatible { session: session.as_str().into() })
        }
        Some(Value::String(session)) => Ok(Lookup::Found { session: session.as_str().into() }),
        _ => Err("it has no `session` that is a text or null".to_owned()),
    }
}

/// What a store listed.
///
/// # Errors
/// When it is no list of receipts.
pub(super) fn receipts(map: &Map<String, Value>, scope: &Scope) -> Result<Vec<Receipt>, String> {
    let Some(Value::Array(listed)) = map.get("receipts") else {
        return Err("it has no list `receipts`".to_owned());
    };
    let mut receipts: Vec<_> =
        listed.iter().map(|one| receipt(one, scope)).collect::<Result<_, _>>()?;
    receipts.sort_by(|a, b| (&a.channel, a.root).cmp(&(&b.channel, b.root)));
    Ok(receipts)
}

fn receipt(value: &Value, scope: &Scope) -> Result<Receipt, String> {
    let text = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(Text::from(text.as_str()))),
        Some(_) => Err(format!("the receipt's `{name}` is no text")),
    };
    let must = |name: &str| text(name)?.ok_or_else(|| format!("a receipt has no `{name}`"));
    let root = match text("root")? {
        None => None,
        Some(digits) => {
            Some(Hex32::parse(&digits).ok_or("the receipt's `root` is not 64 hex digits")?)
        }
    };
    Ok(Receipt {
        relay: scope.relay.clone(),
        pubkey: scope.pubkey,
        channel: must("channel")?,
        root,
        session: must("session")?,
        model: text("model")?,
        mode: text("mode")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(line: &str) -> Map<String, Value> {
        answer(line).unwrap().result.unwrap()
    }

    fn get() -> StoreOp {
        let key = Key { channel: "c".into(), root: None };
        StoreOp::Get { key, config: Config::default() }
    }

    #[test]
    fn an_answer_is_one_object_that_says_whether_it_worked() {
        for (line, wrong) in [
            ("nonsense", "it is no JSON"),
            ("[]", "it is no JSON object"),
            ("{}", "it has no `ok` that is true or false"),
            (r#"{"ok":false}"#, "it refuses without an `error`"),
            (r#"{"ok":true,"warnings":1}"#, "`warnings` is no list"),
        ] {
            assert_eq!(answer(line).unwrap_err(), wrong, "{line}");
        }
        let refused = answer(r#"{"ok":false,"error":"full","warnings":["w"]}"#).unwrap();
        assert_eq!(refused.result, Err("full".into()));
        assert_eq!(refused.warnings, ["w".into()]);
    }

    #[test]
    fn what_a_get_found_is_a_session_or_null() {
        let found = |line: &str| result(&get(), &map(line));
        assert_eq!(found(r#"{"ok":true,"session":null}"#), Ok(StoreAnswer::Got(Lookup::Absent)));
        let incompatible = found(r#"{"ok":true,"session":"s","incompatible":true}"#);
        let session = "s".into();
        assert_eq!(incompatible, Ok(StoreAnswer::Got(Lookup::Incompatible { session })));
        assert!(found(r#"{"ok":true}"#).is_err());
        assert!(found(r#"{"ok":true,"session":7}"#).is_err());
    }

    #[test]
    fn offers_are_known_words() {
        let said = |line: &str| offers(&map(line));
        let both = said(r#"{"ok":true,"protocol":1,"offers":["list","threads"],"life_ms":9}"#);
        let both = both.unwrap();
        assert_eq!(both.features, [Feature::List, Feature::Threads]);
        assert_eq!(both.life_ms, Some(9));
        assert!(said(r#"{"ok":true,"protocol":2}"#).unwrap_err().contains("not 1"));
        let wrong = said(r#"{"ok":true,"protocol":1,"offers":["speed"]}"#).unwrap_err();
        assert!(wrong.contains("`remove_if`, `list`, `threads`, `configuration`"), "{wrong}");
    }

    #[test]
    fn a_request_holds_what_it_is_about() {
        let line = request(&get(), 7);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            value,
            json!({"op": "get", "channel": "c", "root": null, "model": null, "mode": null,
                "now": 7})
        );
    }
}
