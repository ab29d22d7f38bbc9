//! What a scenario asks for, as data: the cast, the agents' scripts, the settings, the acts.
//!
//! The scenario language writes these values, the worlds carry them out. Nothing here does
//! anything.
//!
//! - [`cast`]: who takes part; start here.
//! - [`dice`]: choices from a seed.
//! - [`schedule`]: how much longer hops take than they must.
//! - [`act`]: what the director does to them.
//! - [`script`]: what a scripted agent does at each protocol step.
//! - [`settings`]: how a harness is configured.

pub mod act;
pub mod cast;
pub mod dice;
pub mod schedule;
pub mod script;
pub mod settings;

pub use act::{Act, DiskOp, Message, Point, RelayFault, Spelling, TagForm};
pub use cast::{
    AgentCast, Cast, ChannelCast, ChannelKind, Given, GivenFile, GivenReceipt, HarnessCast,
    PersonCast, RelayCast,
};
pub use dice::Dice;
pub use schedule::Schedule;
pub use script::{Action, Replay, Rule, Script};
pub use settings::{SettingError, Settings};
