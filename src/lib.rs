//! skep tests programs that speak the Agent Client Protocol: it runs a session-keeping system on
//! purpose through its worst days, and says exactly who broke what.
//!
//! - [`director`]: walks a scenario against a world; start here.
//! - [`certify`]: what an agent's `loadSession` is worth.
//! - [`live`]: the world of processes.
//! - [`outcome`]: what a run came to; every report is a view of it.
//! - [`crashes`]: a harness killed and failed at every call on its store.
//! - [`against`]: what changed between two builds.
//! - [`known`]: failures that were known before, and whether that is still so.
//! - [`matrix`]: what a proof came to.
//! - [`tampering`], [`teeth`]: what can be done to a harness at its edges, and who noticed.
//! - [`explore_store`]: the store and its models, exhaustively.
//! - [`profile`]: what a harness is to skep, as data.
//! - [`store`]: the S-rules against any store that speaks the line protocol.
//! - [`report`]: terminal, JSON, JUnit, GitHub, Markdown.
//! - [`cli`]: the command line, one file a verb.
//! - [`scenario`]: the scenario language, text into what a run is asked to do.
//! - [`explore`]: what nobody thought of: random workloads and schedules, and how a failure is made small.
//! - [`exit_code`]: how the process ends.

pub mod against;
pub mod certify;
pub mod cli;
pub mod crashes;
pub mod director;
pub mod exit_code;
pub mod explore;
pub mod explore_store;
pub mod known;
pub mod live;
pub mod matrix;
pub mod outcome;
pub mod profile;
pub mod report;
pub mod scenario;
pub mod store;
pub mod tampering;
pub mod teeth;
