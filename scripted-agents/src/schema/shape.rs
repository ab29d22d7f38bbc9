//! Shapes: the keywords of JSON Schema that the official schema uses, and no others.

use std::fmt;

use serde_json::{Map, Value};

/// Where a value does not fit, and why.
#[derive(Debug)]
pub(super) struct Misfit {
    path: Vec<String>,
    why: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}` ", self.path.join("."))?;
        }
        f.write_str(&self.why)
    }
}

/// The first thing about a value that does not fit the named shape.
pub(super) fn misfit(shapes: &Value, name: &str, value: &Value) -> Option<Misfit> {
    Fit { shapes, path: Vec::new() }.named(name, value).err()
}

/// Whether a value fits a shape.
pub(super) fn fits(shapes: &Value, shape: &Value, value: &Value) -> bool {
    Fit { shapes, path: Vec::new() }.shape(shape, value).is_ok()
}

/// Whether the named shape has a field of this name, in any of its forms.
pub(super) fn has_field(shapes: &Value, shape: &Value, field: &str) -> bool {
    let own = shape.get("properties").is_some_and(|fields| fields.get(field).is_some());
    let referred = || {
        let name = shape.get("$ref").and_then(Value::as_str);
        name.is_some_and(|name| has_field(shapes, &shapes[name], field))
    };
    let formed = || {
        let forms = ["anyOf", "oneOf"].iter().filter_map(|key| shape.get(key)?.as_array());
        forms.flatten().any(|form| has_field(shapes, form, field))
    };
    own || referred() || formed()
}

/// A comparison under way.
struct Fit<'a> {
    shapes: &'a Value,
    path: Vec<String>,
}

type Fits = Result<(), Misfit>;

impl Fit<'_> {
    fn named(&mut self, name: &str, value: &Value) -> Fits {
        let shapes = self.shapes;
        self.shape(&shapes[name], value)
    }

    fn shape(&mut self, shape: &Value, value: &Value) -> Fits {
        let Value::Object(keywords) = shape else { return Ok(()) };
        for (keyword, body) in keywords {
            match &**keyword {
                "$ref" => self.named(body.as_str().unwrap_or_default(), value)?,
                "type" => self.kind(body, value)?,
                "const" if body != value => return self.fail(format!("is not {body}")),
                "minimum" if below(value, body) => return self.fail(format!("is below {body}")),
                "maximum" if below(body, value) => return self.fail(format!("is above {body}")),
                "minLength" if shorter(value, body) => {
                    return self.fail(format!("is shorter than {body}"));
                }
                "required" => self.required(body, value)?,
                "properties" => self.properties(body, value)?,
                "additionalProperties" => self.others(body, keywords, value)?,
                "items" => self.items(body, value)?,
                "anyOf" | "oneOf" => self.forms(body, value, keyword == "oneOf")?,
                "not" if self.shape(body, value).is_ok() => {
                    return self.fail("has a form of its own".to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn fail(&self, why: String) -> Fits {
        Err(Misfit { path: self.path.clone(), why })
    }

    fn kind(&self, kinds: &Value, value: &Value) -> Fits {
        let kinds: Vec<&str> = match kinds {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        if kinds.iter().any(|kind| is(kind, value)) {
            return Ok(());
        }
        self.fail(format!("is {}, not {}", kind_of(value), kinds.join(" or ")))
    }

    fn required(&self, names: &Value, value: &Value) -> Fits {
        let Value::Object(object) = value else { return Ok(()) };
        let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        match names.into_iter().find(|name| !object.contains_key(*name)) {
            Some(name) => self.fail(format!("has no `{name}`")),
            None => Ok(()),
        }
    }

    fn properties(&mut self, fields: &Value, value: &Value) -> Fits {
        for (name, shape) in fields.as_object().into_iter().flatten() {
            if let Some(field) = value.get(name) {
                self.within(name.clone(), shape, field)?;
            }
        }
        Ok(())
    }

    fn others(&mut self, shape: &Value, keywords: &Map<String, Value>, value: &Value) -> Fits {
        let known = |name: &str| {
            keywords.get("properties").is_some_and(|fields| fields.get(name).is_some())
        };
        for (name, field) in value.as_object().into_iter().flatten() {
            if !known(name) {
                self.within(name.clone(), shape, field)?;
            }
        }
        Ok(())
    }

    fn items(&mut self, shape: &Value, value: &Value) -> Fits {
        for (at, item) in value.as_array().into_iter().flatten().enumerate() {
            self.within(at.to_string(), shape, item)?;
        }
        Ok(())
    }

    fn within(&mut self, name: String, shape: &Value, value: &Value) -> Fits {
        self.path.push(name);
        let fits = self.shape(shape, value);
        self.path.pop();
        fits
    }

    /// One of several forms. Of a value that fits none, the form is reported whose tag it bears,
    /// or the only one but null.
    fn forms(&mut self, forms: &Value, value: &Value, exactly_one: bool) -> Fits {
        let forms: Vec<&Value> = forms.as_array().into_iter().flatten().collect();
        let fits: Vec<Fits> = forms.iter().map(|form| self.shape(form, value)).collect();
        let count = fits.iter().filter(|fits| fits.is_ok()).count();
        if count > 1 && exactly_one {
            return self.fail("has two forms at once".to_owned());
        }
        if count > 0 {
            return Ok(());
        }
        let nullable = forms.len() == 2 && forms.iter().any(|form| is_null_form(form));
        let meant = |form: &Value| bears_tag(form, value) || nullable && !is_null_form(form);
        let tagged = forms.iter().zip(fits).find(|(form, _)| meant(form));
        tagged.map_or_else(|| self.fail("has no form that the schema knows".to_owned()), |it| it.1)
    }
}

fn is_null_form(form: &Value) -> bool {
    form.get("type").is_some_and(|kind| kind == "null")
}

/// Whether a field of the value is the constant that this form is known by.
fn bears_tag(form: &Value, value: &Value) -> bool {
    let mut fields = form.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields.any(|(name, field)| field.get("const").is_some_and(|tag| value.get(name) == Some(tag)))
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // A number without a fraction, however it is written.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn shorter(value: &Value, least: &Value) -> bool {
    let letters = value.as_str().map(|text| text.chars().count() as u64);
    letters.zip(least.as_u64()).is_some_and(|(letters, least)| letters < least)
}

fn below(one: &Value, other: &Value) -> bool {
    one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one < other)
}
