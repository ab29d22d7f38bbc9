//! The agent's table and its judgement, held against the official types and an independent judge.

use serde_json::{Map, Value, json};
use skep_agent::schema::{
    agent_params_misfit, agent_result_misfit, params_misfit, result_misfit,
};

const COMMITTED: &str = include_str!("../../src/schema/acp-v1.json");

#[test]
fn the_committed_table_is_the_one_that_the_official_types_make() {
    assert!(COMMITTED == skep_official::text(), "renew it as src/lib.rs says");
}

#[test]
fn the_agent_and_the_independent_judge_agree_on_every_value() {
    let table = skep_official::table();
    let (mut fit, mut unfit) = (0, 0);
    for (part, misfit) in [
        ("params", params_misfit as fn(&str, &Value) -> _),
        ("results", result_misfit),
        ("agent_params", agent_params_misfit),
        ("agent_results", agent_result_misfit),
    ] {
        for (method, name) in table[part].as_object().expect("methods") {
            let shape = json!({"$ref": format!("#/$defs/{}", name.as_str().expect("a name")),
                "$defs": skep_official::definitions()});
            let judge = jsonschema::validator_for(&shape).expect("a schema");
            for value in values(&shape) {
                let fits = judge.is_valid(&value);
                let ours = misfit(method, &value);
                assert_eq!(fits, ours.is_none(), "{method}: {value}\n{ours:?}");
                if fits { fit += 1 } else { unfit += 1 }
            }
        }
    }
    // Both kinds, and many of each: an agreement over nothing proves nothing.
    assert!(fit > 1000 && unfit > 1000, "{fit} fit, {unfit} do not");
}

/// Values that fit the shape, and each of them spoiled at one place in many ways.
fn values(shape: &Value) -> impl Iterator<Item = Value> {
    let samples = samples(shape, &shape["$defs"]).into_iter();
    samples.flat_map(|sample| [spoiled(&sample), vec![sample]].concat())
}

/// A few values that fit: every form of every field at least once.
fn samples(shape: &Value, definitions: &Value) -> Vec<Value> {
    if let Some(name) = shape["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        let referred = samples(&definitions[name], definitions);
        let own = objects(shape, definitions);
        return merged(&referred, &own);
    }
    for forms in ["anyOf", "oneOf"] {
        if let Some(forms) = shape[forms].as_array() {
            let formed: Vec<_> = forms.iter().flat_map(|form| samples(form, definitions)).collect();
            return merged(&formed, &objects(shape, definitions));
        }
    }
    if let Some(constant) = shape.get("const") {
        return vec![constant.clone()];
    }
    let kinds = match &shape["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    kinds.iter().flat_map(|kind| of_kind(kind.as_str().unwrap_or(""), shape, definitions)).collect()
}

fn of_kind(kind: &str, shape: &Value, definitions: &Value) -> Vec<Value> {
    match kind {
        "object" => objects(shape, definitions),
        "array" => {
            let items = shape.get("items").map(|items| samples(items, definitions));
            let lists = items.into_iter().flatten().map(|item| json!([item]));
            lists.chain([json!([])]).collect()
        }
        "string" => vec![json!("text")],
        "boolean" => vec![json!(true)],
        "integer" => vec![json!(1)],
        "number" => vec![json!(1.5)],
        "null" => vec![Value::Null],
        _ => vec![json!({})],
    }
}

/// All fields with their first sample, then one object for each further sample of a field.
fn objects(shape: &Value, definitions: &Value) -> Vec<Value> {
    let fields = shape["properties"].as_object().cloned().unwrap_or_default();
    let fields: Vec<_> =
        fields.iter().map(|(name, field)| (name, samples(field, definitions))).collect();
    let full: Map<String, Value> =
        fields.iter().map(|(name, samples)| ((*name).clone(), samples[0].clone())).collect();
    let mut objects = vec![Value::Object(full.clone())];
    for (name, samples) in &fields {
        for sample in &samples[1..] {
            let mut varied = full.clone();
            varied.insert((*name).clone(), sample.clone());
            objects.push(Value::Object(varied));
        }
    }
    objects
}

/// Each of the first with the fields of the first of the others added, and the other way round.
fn merged(ones: &[Value], others: &[Value]) -> Vec<Value> {
    let both = |one: &Value, other: &Value| match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut both = one.clone();
            both.extend(other.clone());
            Value::Object(both)
        }
        (one, _) => one.clone(),
    };
    let first = ones.iter().map(|one| both(one, &others[0]));
    let rest = others[1..].iter().map(|other| both(&ones[0], other));
    first.chain(rest).collect()
}

/// The value with something else, or nothing, at each of its places; and with one field more.
fn spoiled(value: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(1.5),
        json!(2.0),
        json!(-1),
        json!(70_000),
        json!("other"),
        json!([]),
        json!([7]),
        json!({}),
        json!({"type": "text"}),
    ];
    let mut spoiled = others.to_vec();
    match value {
        Value::Object(object) => {
            for (name, field) in object {
                spoiled.extend(crate::spoiled(field).into_iter().map(|field| {
                    let mut object = object.clone();
                    object.insert(name.clone(), field);
                    Value::Object(object)
                }));
                let mut without = object.clone();
                without.remove(name);
                spoiled.push(Value::Object(without));
            }
            let mut more = object.clone();
            more.insert("more".to_owned(), json!(1));
            spoiled.push(Value::Object(more));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                spoiled.extend(crate::spoiled(item).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[at] = item;
                    Value::Array(items)
                }));
            }
        }
        _ => {}
    }
    spoiled
}
