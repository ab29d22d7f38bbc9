//! One setting, and how a harness is told its value.

use skep_plan::settings::parse_duration;
use skep_trace::Text;

/// How a harness is told the value of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The variable of its environment.
    pub env: Text,
    /// How the value is written there.
    pub form: Form,
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// As the scenario writes it.
    Plain,
    /// A duration, as a whole number of seconds.
    Seconds,
    /// A duration, as a whole number of milliseconds.
    Milliseconds,
    /// A switch whose variable says the opposite.
    Inverted,
    /// A switch: this text while it is on, no variable while it is off.
    On(Text),
    /// A path below the state directory.
    Below(Text),
}

impl Form {
    /// The words of the forms that need no text of their own.
    pub const WORDS: &[(&str, Self)] = &[
        ("plain", Self::Plain),
        ("seconds", Self::Seconds),
        ("milliseconds", Self::Milliseconds),
        ("inverted", Self::Inverted),
    ];

    /// The value as the variable has it; empty where there is to be no variable, and `None` where
    /// it cannot be written in this form: there are no halves of a second.
    pub fn write(&self, value: &str) -> Option<String> {
        match self {
            Self::Plain => Some(value.to_owned()),
            Self::Milliseconds => Some(parse_duration(value)?.to_string()),
            Self::Seconds => match parse_duration(value)? {
                ms if ms % 1_000 == 0 => Some((ms / 1_000).to_string()),
                _ => None,
            },
            Self::Inverted => Some((value != "true").to_string()),
            Self::On(text) if value == "true" => Some(text.to_string()),
            Self::On(_) => Some(String::new()),
            Self::Below(path) => Some(format!("{value}/{path}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_in_its_form_or_not_at_all() {
        assert_eq!(Form::Plain.write("m1"), Some("m1".to_owned()));
        assert_eq!(Form::Seconds.write("10000ms"), Some("10".to_owned()));
        assert_eq!(Form::Seconds.write("1500ms"), None);
        assert_eq!(Form::Milliseconds.write("1500ms"), Some("1500".to_owned()));
        assert_eq!(Form::Inverted.write("true"), Some("false".to_owned()));
        assert_eq!(Form::On("x".into()).write("true"), Some("x".to_owned()));
        assert_eq!(Form::On("x".into()).write("false"), Some(String::new()));
        assert_eq!(Form::Below("s.json".into()).write("/d"), Some("/d/s.json".to_owned()));
    }
}
