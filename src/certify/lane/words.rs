//! What is said in prompts. Words that begin with `skep:` are wishes, to the scripted agent and to
//! the model stub alike; an agent with a model of its own makes of them what it likes.

use serde_json::{Value, json};

/// The word to remember in the first session, and in the second.
pub(in crate::certify) const WORD: &str = "amber-7";
pub(in crate::certify) const SECOND_WORD: &str = "birch-9";

/// Asks for every word that was to be remembered.
pub(super) const RECALL: &str = "Which words did I ask you to remember? skep:recall";

/// A turn that streams until it is stopped; the first word of every long stream.
pub(in crate::certify) const FIRST_WORD: &str = "word 0 ";
pub(super) const SLOW: &str = "Count slowly. skep:slow";

/// A turn that streams much and all at once; its last word.
pub(super) const DENSE: &str = "Count quickly. skep:dense";
pub(in crate::certify) const LAST_DENSE: &str = "word 1999";

/// A turn whose model says nothing.
pub(in crate::certify) const SILENT: &str = "Say nothing. skep:silent";

/// Turns whose model refuses, and fails, twice before it answers.
pub(super) const REFUSED: &str = "Try this again. skep:fail-429";
pub(super) const FAILING: &str = "Try this too. skep:fail-500";

/// Line breaks of three kinds, letters of one to four bytes, a family in one sign, an accent that
/// is a letter of its own.
pub(in crate::certify) const ODD: &str = "Line one\nline two\r\nline\u{2028}three: é 漢字 \
    \u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} e\u{301}";

/// The smallest picture there is, as a PNG.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(super) fn remember(word: &str) -> Value {
    text(&format!("Please remember the word {word}. skep:remember"))
}

/// The turns of the first session, after the one with the word.
pub(super) fn conversation(cwd: &str, pictures: bool) -> Vec<Value> {
    let mut look = vec![
        json!({"type": "text", "text": "Look at these."}),
        json!({"type": "resource_link", "name": "notes", "uri": format!("file://{cwd}/skep-notes.txt")}),
    ];
    if pictures {
        look.push(json!({"type": "image", "mimeType": "image/png", "data": PICTURE}));
    }
    vec![
        text(&format!("skep:echo {ODD}")),
        text("Add a note. skep:tool"),
        look.into(),
        text("What comes next? skep:think"),
    ]
}

/// The same prompt without its pictures; `None` where it has none.
pub(super) fn without_pictures(prompt: &Value) -> Option<Value> {
    let blocks = prompt.as_array()?;
    let rest: Vec<_> = blocks.iter().filter(|block| block["type"] != "image").cloned().collect();
    (rest.len() < blocks.len()).then(|| rest.into())
}

/// A prompt of one text.
pub(super) fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}
