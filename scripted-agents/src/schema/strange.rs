//! Fields that the official schema does not know, where it says what fields there are.

use serde_json::{Map, Value};

use super::shape;

/// The path of the first field that no form of the named shape knows. `_meta` is free by rule.
pub(super) fn field(shapes: &Value, name: &str, value: &Value) -> Option<String> {
    let mut search = Search { shapes, path: Vec::new() };
    search.shape(&shapes[name], value).then(|| search.path.join("."))
}

struct Search<'a> {
    shapes: &'a Value,
    path: Vec<String>,
}

impl<'a> Search<'a> {
    /// Whether a strange field was found; then the path leads to it.
    fn shape(&mut self, shape: &'a Value, value: &Value) -> bool {
        match value {
            Value::Object(object) => self.object(shape, value, object),
            Value::Array(list) => {
                let items = self.forms(shape, value).into_iter().find_map(|form| form.get("items"));
                let Some(items) = items else { return false };
                list.iter().enumerate().any(|(at, item)| self.within(&at.to_string(), items, item))
            }
            _ => false,
        }
    }

    fn object(&mut self, shape: &'a Value, value: &Value, object: &Map<String, Value>) -> bool {
        let forms = self.forms(shape, value);
        let free = |form: &&Value| form.get("additionalProperties").is_some();
        let known: Vec<_> = forms.iter().filter_map(|form| form.get("properties")).collect();
        if known.is_empty() || forms.iter().any(free) {
            return false;
        }
        object.iter().filter(|(name, _)| *name != "_meta").any(|(name, field)| {
            match known.iter().find_map(|fields| fields.get(name)) {
                Some(shape) => self.within(name, shape, field),
                None => {
                    self.path.push(name.clone());
                    true
                }
            }
        })
    }

    fn within(&mut self, name: &str, shape: &'a Value, value: &Value) -> bool {
        self.path.push(name.to_owned());
        let found = self.shape(shape, value);
        if !found {
            self.path.pop();
        }
        found
    }

    /// The shape itself with all that it refers to; of several forms those that the value fits,
    /// or all where it fits none.
    fn forms(&self, shape: &'a Value, value: &Value) -> Vec<&'a Value> {
        let mut forms = vec![shape];
        if let Some(name) = shape.get("$ref").and_then(Value::as_str) {
            forms.extend(self.forms(&self.shapes[name], value));
        }
        for key in ["anyOf", "oneOf"] {
            let all: Vec<&Value> = shape[key].as_array().into_iter().flatten().collect();
            let fit: Vec<&Value> =
                all.iter().copied().filter(|form| shape::fits(self.shapes, form, value)).collect();
            let chosen = if fit.is_empty() { all } else { fit };
            forms.extend(chosen.into_iter().flat_map(|form| self.forms(form, value)));
        }
        forms
    }
}
