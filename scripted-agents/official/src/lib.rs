//! The table of ACP version 1 that the scripted agent checks a harness's frames with, made from
//! the official types. Prose, hints for readers and whatever else decides nothing is left out.
//!
//! The committed table is `../src/schema/acp-v1.json`. To renew it:
//! `cargo run --manifest-path scripted-agents/official/Cargo.toml > scripted-agents/src/schema/acp-v1.json`

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The version of the schema crate that the table is made from.
const VERSION: &str = "1.20.0";

/// Keywords that decide whether a value fits. Anything else is dropped, or stops the generator.
const DECIDING: &[&str] = &[
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "items",
    "maximum",
    "minLength",
    "minimum",
    "not",
    "oneOf",
    "properties",
    "required",
    "type",
];

/// Keywords that decide nothing.
const IDLE: &[&str] = &["default", "description", "discriminator", "format", "title"];

/// What the table is for: the parameters of what a client may send, by method, and the results
/// of what an agent may ask; the same of an agent, and the shapes that all of them refer to.
pub fn table() -> Value {
    let mut generator = SchemaSettings::default().into_generator();
    generator.subschema_for::<v1::ClientRequest>();
    generator.subschema_for::<v1::ClientNotification>();
    generator.subschema_for::<v1::CancelRequestNotification>();
    let params = methods(generator.definitions(), &["agent", "protocol"]);
    generator.subschema_for::<v1::ClientResponse>();
    let results = methods(generator.definitions(), &["client"]);
    let (agent_params, agent_results) = agent_side();
    generator.subschema_for::<v1::AgentRequest>();
    generator.subschema_for::<v1::AgentNotification>();
    generator.subschema_for::<v1::AgentResponse>();
    let shapes = generator.take_definitions(true);
    let roots = [&params, &results, &agent_params, &agent_results];
    let shapes = needed(&shapes, roots.into_iter().flat_map(BTreeMap::values));
    json!({
        "acp": 1, "schema": VERSION, "params": params, "results": results,
        "agent_params": agent_params, "agent_results": agent_results, "shapes": shapes,
    })
}

/// What an agent may send, and the results that it owes, by method.
fn agent_side() -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let mut generator = SchemaSettings::default().into_generator();
    generator.subschema_for::<v1::AgentRequest>();
    generator.subschema_for::<v1::AgentNotification>();
    generator.subschema_for::<v1::CancelRequestNotification>();
    let mut params = methods(generator.definitions(), &["client", "protocol"]);
    // A form brings a schema of its own along, whose keywords nobody here has to know.
    params.retain(|method, _| !method.starts_with("elicitation/"));
    generator.subschema_for::<v1::AgentResponse>();
    (params, methods(generator.definitions(), &["agent"]))
}

/// The table as it is committed: a shape a line, so that a change shows as what it is.
pub fn text() -> String {
    let table = table();
    let mut text = format!("{{\n\"acp\": 1,\n\"schema\": {},\n", table["schema"]);
    for part in ["params", "results", "agent_params", "agent_results", "shapes"] {
        let entries: BTreeMap<_, _> = table[part].as_object().expect("an object").iter().collect();
        let lines: Vec<_> =
            entries.iter().map(|(name, shape)| format!("{}: {shape}", json!(name))).collect();
        let end = if part == "shapes" { "\n}\n}\n" } else { "\n},\n" };
        text += &format!("\"{part}\": {{\n{}{end}", lines.join(",\n"));
    }
    text
}

/// The official definitions as they are, for whoever judges by them.
pub fn definitions() -> Value {
    let mut generator = SchemaSettings::default().into_generator();
    generator.subschema_for::<v1::ClientRequest>();
    generator.subschema_for::<v1::ClientNotification>();
    generator.subschema_for::<v1::CancelRequestNotification>();
    generator.subschema_for::<v1::ClientResponse>();
    generator.subschema_for::<v1::AgentRequest>();
    generator.subschema_for::<v1::AgentNotification>();
    generator.subschema_for::<v1::AgentResponse>();
    generator.take_definitions(true).into_iter().collect()
}

/// Definitions that say themselves which method they belong to, and on whose side.
fn methods(definitions: &Map<String, Value>, sides: &[&str]) -> BTreeMap<String, String> {
    let belongs = |(name, body): (&String, &Value)| {
        let side = body.get("x-side")?.as_str()?;
        let method = body.get("x-method")?.as_str()?.to_owned();
        sides.contains(&side).then(|| (method, name.clone()))
    };
    definitions.iter().filter_map(belongs).collect()
}

fn needed<'a>(
    definitions: &Map<String, Value>,
    roots: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, Value> {
    let mut shapes = BTreeMap::new();
    let mut queue: Vec<String> = roots.cloned().collect();
    while let Some(name) = queue.pop() {
        if !shapes.contains_key(&name) {
            let shape = distilled(&definitions[&name], &mut queue);
            shapes.insert(name, shape);
        }
    }
    shapes
}

/// A schema without what decides nothing; the names that it refers to are put on the queue.
fn distilled(schema: &Value, queue: &mut Vec<String>) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut kept = BTreeMap::new();
    for (keyword, body) in schema {
        let idle = IDLE.contains(&&**keyword) || keyword.starts_with("x-");
        // Everything else is allowed wherever nothing is said.
        if idle || (keyword == "additionalProperties" && *body == json!(true)) {
            continue;
        }
        assert!(DECIDING.contains(&&**keyword), "the agent's check does not know `{keyword}`");
        let body = match (&**keyword, body) {
            ("$ref", reference) => named(reference, queue),
            ("properties", Value::Object(fields)) => fields
                .iter()
                .map(|(name, field)| (name.clone(), distilled(field, queue)))
                .collect::<BTreeMap<_, _>>()
                .into_iter()
                .collect(),
            (_, Value::Array(forms)) => forms.iter().map(|form| distilled(form, queue)).collect(),
            (_, body) => distilled(body, queue),
        };
        kept.insert(keyword.clone(), body);
    }
    kept.into_iter().collect()
}

fn named(reference: &Value, queue: &mut Vec<String>) -> Value {
    let name = reference.as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    let name = name.expect("a reference to a definition");
    queue.push(name.to_owned());
    name.into()
}
