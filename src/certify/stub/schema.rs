//! The least value that fits a schema.

use serde_json::{Map, Value, json};

/// The least that a schema asks for.
pub(super) fn least(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind.unwrap_or("object").to_ascii_lowercase().as_str() {
        "string" => "a talk".into(),
        "integer" | "number" => 1000.into(),
        "boolean" => false.into(),
        "array" => Value::Array(Vec::new()),
        "null" => Value::Null,
        _ => object(schema),
    }
}

/// An object of what is required. Where nothing is known of it, a title is what is mostly wanted.
fn object(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let names = required.filter_map(Value::as_str);
    let object: Map<_, _> =
        names.map(|name| (name.to_owned(), least(&schema["properties"][name]))).collect();
    match object.is_empty() && schema["properties"].is_null() {
        true => json!({"title": "a talk"}),
        false => object.into(),
    }
}
