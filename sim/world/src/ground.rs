//! What every world does alike with what a scenario gives and what its people say.

use skep_mutant::Mutants;
use skep_plan::{Given, GivenFile, GivenReceipt};
use skep_relay::Party;
use skep_store::{StoreConfig, StoreOp};
use skep_trace::{SharedEvent, Text, What};

use crate::stage::{Said, Stage};
use crate::world::WorldError;

/// What an agent that knows a given session has of it.
const EARLIER: [(&str, &str); 1] = [("earlier question", "earlier answer")];

/// A world, as far as its relays, its disks and its trace go.
pub trait Ground {
    /// Who takes part.
    fn stage(&mut self) -> &mut Stage;

    /// Puts a record into the trace.
    fn note(&mut self, what: What);

    /// Publishes an event at a relay, for one party or for all.
    fn publish(&mut self, relay: usize, event: SharedEvent, to: Option<Party>);

    /// Lets an agent know a session of which it has these turns.
    fn agent_knows(&mut self, agent: &Text, session: &Text, turns: &[(&str, &str)]);

    /// Where a state directory is.
    fn state_path(&mut self, state: &Text) -> Text;

    /// Lets a store do something, as an earlier life would have.
    ///
    /// # Errors
    /// When the store refuses.
    fn store(&mut self, config: StoreConfig, op: StoreOp) -> Result<(), WorldError>;

    /// Puts a raw file below a state directory; says what that looks like then.
    ///
    /// # Errors
    /// When it cannot be put there.
    fn put_file(&mut self, path: &str, file: &GivenFile) -> Result<What, WorldError>;
}

/// Builds up what the scenario says is there before the first start.
///
/// # Errors
/// When it cannot be built.
pub fn give(ground: &mut impl Ground) -> Result<(), WorldError> {
    for given in ground.stage().cast.given.clone() {
        match given {
            Given::Receipt(receipt) => give_receipt(ground, &receipt)?,
            Given::File(file) => {
                let path = file.path.clone();
                let path = path.unwrap_or_else(|| ground.stage().store_file(&file.state));
                // Told as the scenario's own doing, so that no harness answers for it.
                let told = ground.put_file(&path, &file)?;
                ground.note(told);
            }
        }
    }
    Ok(())
}

/// A receipt that an earlier life left: written by the store itself, without any fault.
fn give_receipt(ground: &mut impl Ground, receipt: &GivenReceipt) -> Result<(), WorldError> {
    let given = ground.stage().given(receipt)?;
    given.names.into_iter().for_each(|what| ground.note(what));
    if receipt.known {
        ground.agent_knows(&given.agent, &given.session, &EARLIER);
    }
    for event in given.roots {
        ground.publish(given.relay, event, None);
    }
    let state = ground.stage().players[given.host].state.clone();
    let dir = ground.state_path(&state);
    let config = ground.stage().store_config(given.host, &dir, Mutants::NONE);
    ground.store(config, given.op)
}

/// Publishes what somebody said, and before it the roots that it speaks of.
pub fn publish(ground: &mut impl Ground, said: Said) {
    said.named.into_iter().for_each(|what| ground.note(what));
    for event in said.roots {
        ground.publish(said.relay, event, None);
    }
    ground.publish(said.relay, said.event, said.to);
}
