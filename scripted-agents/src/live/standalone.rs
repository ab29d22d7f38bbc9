//! The process without a director: a well-behaved agent that keeps its sessions in files.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use skep_plan::AgentCast;

use super::folder::Folder;
use super::stdio;
use crate::core::Agent;
use crate::shell::{Ended, Seen, Shell};

/// The exit code of an agent that cannot keep its sessions, or has no standard streams.
const NO_HOME: i32 = 74;

pub(super) async fn main(home: &Path) -> i32 {
    match start(home).await {
        Ok(Ended::Exit(code)) => code,
        Ok(Ended::Signal(signal)) => stdio::die(signal),
        Ok(Ended::Gone) => 0,
        Err(error) => {
            remark(&format!("the folder .skep-agent cannot be used: {error}"));
            NO_HOME
        }
    }
}

async fn start(home: &Path) -> io::Result<Ended> {
    let folder = Folder::open(&home.join(".skep-agent"))?;
    let (stdin, stdout) = (stdio::take_stdin()?, stdio::take_stdout()?);
    let agent = Agent::new(Arc::new(cast()), folder.process());
    let watch = |seen| {
        if let Seen::Finding(text) = seen {
            remark(&text);
        }
    };
    Ok(Shell::new(agent, folder, watch).checking_schema().run(stdin, stdout).await)
}

/// Everything that a scripted agent can offer of the protocol.
fn cast() -> AgentCast {
    let mut cast = AgentCast::new("skep-agent");
    cast.resume = true;
    cast.list = true;
    cast
}

/// Standard error is for people; one who is not listening misses nothing.
fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "skep scripted-agent: {text}");
}
