//! The tools that a model may call, and the call of one that runs a command line.

use serde_json::{Map, Value, json};

use super::schema::least;

/// How a tool is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// With arguments that fit a schema.
    #[default]
    Function,
    /// With a text of no form.
    Freeform,
    /// It is the provider's own, and runs a command; it has no name.
    LocalShell,
}

/// A tool that may be called.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tool {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) description: String,
    /// The schema of its arguments.
    pub(super) schema: Value,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// An object; a text where the tool takes that.
    pub(super) arguments: Value,
}

/// Arguments that take a command line, the likeliest first.
const COMMANDS: [&str; 8] = [
    "command",
    "cmd",
    "commands",
    "script",
    "command_line",
    "commandLine",
    "shell_command",
    "line",
];

/// What the name or the description of a tool that runs commands says.
const SAYS: [&str; 5] = ["shell", "bash", "terminal", "command", "exec"];

impl Tool {
    /// A tool as most ways of talking offer it: a name, a description, and a schema.
    pub(super) fn function(offered: &Value, schema: &Value) -> Self {
        let text = |key: &str| offered[key].as_str().unwrap_or_default().to_owned();
        Self {
            kind: Kind::Function,
            name: text("name"),
            description: text("description"),
            schema: schema.clone(),
        }
    }

    /// How much it looks like one that runs commands: the less, the more. `None`: not at all.
    fn rank(&self) -> Option<usize> {
        let says = |text: &str| {
            let text = text.to_lowercase();
            SAYS.iter().position(|word| text.contains(word))
        };
        let takes = match self.kind {
            Kind::LocalShell => return Some(0),
            Kind::Freeform => true,
            Kind::Function => self.argument().is_some(),
        };
        // A description says much; a name says what it is.
        let by_description = || says(&self.description).map(|at| at + SAYS.len());
        takes.then(|| says(&self.name).or_else(by_description)).flatten()
    }

    /// The argument that takes a command line. A tool of the provider's own has no schema.
    fn argument(&self) -> Option<&'static str> {
        let Some(properties) = self.schema["properties"].as_object() else {
            return Some(COMMANDS[0]).filter(|_| self.schema.is_null());
        };
        let takes = |name: &&str| {
            let kind = &properties.get(*name)?["type"];
            (kind.is_null() || kind == "string" || kind == "array" || kind.is_array()).then_some(())
        };
        COMMANDS.into_iter().find(|name| takes(name).is_some())
    }

    fn call(&self, command: &str) -> Call {
        let arguments = match self.kind {
            Kind::Function => self.arguments(command),
            Kind::Freeform | Kind::LocalShell => command.into(),
        };
        Call { kind: self.kind, name: self.name.clone(), arguments }
    }

    fn arguments(&self, command: &str) -> Value {
        let mut arguments = match least(&self.schema) {
            Value::Object(arguments) if self.schema.is_object() => arguments,
            _ => Map::new(),
        };
        let properties = &self.schema["properties"];
        let name = self.argument().unwrap_or(COMMANDS[0]);
        arguments.insert(name.to_owned(), line(name, &properties[name], command));
        arguments.extend(escalated(properties));
        arguments.into()
    }
}

/// A command line in the form that an argument has.
fn line(name: &str, property: &Value, command: &str) -> Value {
    match (property["type"].as_str(), property["items"]["type"].as_str()) {
        (Some("array"), Some("object")) => {
            let items = Tool { schema: property["items"].clone(), ..Tool::default() };
            json!([items.arguments(command)])
        }
        (Some("array"), _) if name == "commands" => json!([command]),
        (Some("array"), _) => json!(["sh", "-c", command]),
        _ => json!(command),
    }
}

/// A sandbox may let a command write nothing, or be missing: a tool that can be asked to do without
/// is asked, as a model does that knows it.
fn escalated(properties: &Value) -> Vec<(String, Value)> {
    let values = properties["sandbox_permissions"]["enum"].as_array();
    let escalates = values.is_some_and(|values| values.contains(&"require_escalated".into()));
    if !escalates {
        return Vec::new();
    }
    vec![
        ("sandbox_permissions".to_owned(), "require_escalated".into()),
        ("justification".to_owned(), "May a note be written?".into()),
    ]
}

/// The call of the tool that looks most like one that runs commands; of two alike, the first.
pub(super) fn call(tools: &[Tool], command: &str) -> Option<Call> {
    let ranked = tools.iter().filter_map(|tool| Some((tool.rank()?, tool)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, tool)| tool.call(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str, properties: &Value) -> Tool {
        let schema = json!({"type": "object", "properties": properties});
        Tool { kind: Kind::Function, name: name.into(), description: description.into(), schema }
    }

    fn called(tools: &[Tool]) -> Option<(String, Value)> {
        call(tools, "ls").map(|call| (call.name, call.arguments))
    }

    #[test]
    fn a_tool_that_runs_commands_is_known_by_its_argument_and_by_what_it_says() {
        let text = json!({"type": "string"});
        let runs = |name: &str, description: &str, key: &str| {
            called(&[tool(name, description, &json!({key: text}))])
        };
        for (name, description, key) in [
            ("Bash", "", "command"),
            ("exec_command", "", "cmd"),
            ("developer__shell", "", "command"),
            ("run", "Runs a shell script.", "script"),
            ("execute", "In a terminal.", "commandLine"),
        ] {
            assert_eq!(runs(name, description, key).unwrap().1, json!({key: "ls"}), "{name}");
        }
        assert_eq!(runs("read_file", "Reads a file.", "command"), None);
        assert_eq!(runs("execute_code", "Runs Python.", "code"), None);
        assert_eq!(runs("kill_shell", "", "shell_id"), None);
        assert_eq!(called(&[tool("shell", "", &json!({"command": {"type": "object"}}))]), None);
    }

    #[test]
    fn a_name_says_more_than_a_description() {
        let key = json!({"script": {"type": "string"}, "command": {"type": "string"}});
        let workflow = tool("Workflow", "A script; do not use bash.", &key);
        assert_eq!(called(&[workflow, tool("Bash", "", &key)]).unwrap().0, "Bash");
    }

    #[test]
    fn a_command_line_has_the_form_that_is_asked_for() {
        let array = json!({"type": "array"});
        let with = |properties: Value| called(&[tool("shell", "", &properties)]).unwrap().1;
        assert_eq!(with(json!({"command": array}))["command"], json!(["sh", "-c", "ls"]));
        assert_eq!(with(json!({"commands": array}))["commands"], json!(["ls"]));
        let object = json!({"type": "object", "properties": {"command": {"type": "string"}}});
        let objects = json!({"type": "array", "items": object});
        assert_eq!(with(json!({"commands": objects}))["commands"], json!([{"command": "ls"}]));
        let own = Tool { name: "bash".to_owned(), ..Tool::default() };
        assert_eq!(called(&[own]).unwrap().1, json!({"command": "ls"}));
    }

    #[test]
    fn a_sandbox_is_left_where_a_tool_can_be_asked_to() {
        let values = json!({"enum": ["use_default", "require_escalated"]});
        let properties = json!({"cmd": {"type": "string"}, "sandbox_permissions": values});
        let (_, arguments) = called(&[tool("exec_command", "", &properties)]).unwrap();
        assert_eq!(arguments["sandbox_permissions"], "require_escalated");
    }
}
