//! The model stub of a lane: what it is asked goes onto the tape.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use skep_trace::{Process, Sighting, Text};

use super::stub::{Asked, Ear, Stub};
use super::tape::Tape;

/// Texts of the user that are told from the beginning of a conversation, and from its end, and
/// how much of each, in letters.
const TOLD_FIRST: usize = 8;
const TOLD_LAST: usize = 2;
const TOLD_LETTERS: usize = 200;

/// A stub whose requests are sightings of the process that runs.
#[derive(Debug)]
pub(super) struct Model {
    stub: Stub,
    desk: Arc<Desk>,
}

impl Model {
    /// Listens until the program ends.
    pub(super) fn listen(tape: &Arc<Tape>) -> io::Result<Self> {
        let desk = Arc::new(Desk { tape: Arc::clone(tape), agent: Mutex::new(None) });
        Ok(Self { stub: Stub::listen(0, Arc::clone(&desk) as Arc<dyn Ear>)?, desk })
    }

    /// Where it listens, without a slash at the end.
    pub(super) fn url(&self) -> String {
        self.stub.url()
    }

    /// Counts what is asked from now on to this process.
    pub(super) fn serve(&self, agent: &Process) {
        let mut current = self.desk.agent.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(agent.clone());
    }
}

/// Where requests are written down.
#[derive(Debug)]
struct Desk {
    tape: Arc<Tape>,
    agent: Mutex<Option<Process>>,
}

impl Ear for Desk {
    fn hears(&self, asked: &Asked<'_>) {
        let Asked::Talk { api, said, .. } = asked else { return };
        let current = self.agent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(agent) = current {
            let (api, said) = ((*api).into(), told(said).into());
            self.tape.saw(&agent, Sighting::ModelAsked { api, said });
        }
    }
}

/// The beginning and the end of what was said.
fn told(texts: &[&str]) -> Vec<Text> {
    let last = texts.len().saturating_sub(TOLD_LAST).max(TOLD_FIRST.min(texts.len()));
    let cut = |text: &&str| Text::from(text.chars().take(TOLD_LETTERS).collect::<String>());
    texts.iter().take(TOLD_FIRST).chain(texts.iter().skip(last)).map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_conversation_is_told_by_its_ends() {
        let words: Vec<String> = (0..20).map(|at| at.to_string()).collect();
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(told(&texts).concat(), "012345671819");
        assert_eq!(told(&texts[..9]).concat(), "012345678");
        assert_eq!(told(&texts[..2]).concat(), "01");
    }
}
