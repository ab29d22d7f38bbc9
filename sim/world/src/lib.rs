//! The simulated worlds that a scenario runs in.
//!
//! A [`World`] carries out acts and tells what happened as a trace. The director walks a scenario
//! against one; it does not know which.
//!
//! - [`world`]: the trait; start here.
//! - [`event`]: the event gear: the pure cores on one discrete-event queue.
//! - [`wire`]: the wire gear: turmoil hosts that exchange real bytes.
//! - [`points`]: where a conversation stands, for kills at a point.
//! - [`stage`]: what every world is set up with, and what its people say.
//! - [`ground`]: what is given and said, the same in all of them.
//! - [`mint`]: every id of a run, made from its seed and a name.
//! - [`compose`]: what people say, as Nostr events; shared by all worlds.
//! - [`recorder`]: the trace in the making.
//! - `canary`: what must never decide anything, for the proof that it would be noticed.

mod canary;
pub mod compose;
pub mod event;
pub mod ground;
pub mod mint;
pub mod points;
pub mod recorder;
pub mod stage;
mod states;
pub mod wire;
pub mod world;

pub use event::EventWorld;
pub use ground::Ground;
pub use points::Points;
pub use recorder::Recorder;
pub use stage::Stage;
pub use wire::WireWorld;
pub use world::{Outlook, Setup, World, WorldError};
