//! Limits of the system: S-33.

use skep_store::ops::StoreAnswer;
use skep_store::suite::{Host as _, Verdict};

use super::super::case::{NOW, demand, put, scope, violated};
use super::super::host::ProgramHost;
use super::super::program::Launch;

/// Blocks of 512 bytes that a limited process may make a file of: a log line fits, and the receipts
/// below do not.
const BLOCKS: u64 = 4;

/// S-33: a limit on the size of files (`ulimit -f`) is reported, and the old content survives.
pub(in crate::store) fn a_file_size_limit_keeps_the_old_content(host: &mut ProgramHost) -> Verdict {
    let long = "x".repeat(BLOCKS as usize * 512 + 1);
    host.given(&[("a", "session-1"), ("long", &long)])?;
    let launch = Launch { file_blocks: Some(BLOCKS), ..host.launch.clone() };
    host.story.act_outside(&format!("ulimit -f {BLOCKS} for the next process"));
    let process = host.open_with(&launch, &scope(), NOW)?;
    let before = host.look();
    let why = match host.apply(process, put("b", "session-2"), NOW)? {
        StoreAnswer::Failed(why) => why,
        answer => {
            return violated(format!("a put beyond the limit is answered `{answer}`"));
        }
    };
    demand("a refused put changed the directory", host.look() == before)?;
    host.kill(process);
    let found = host.all_found(&["a", "b"])?;
    let kept = [Some("session-1".to_owned()), None];
    demand(&format!("after a refused put there is {found:?}"), found == kept)?;
    let process = host.opened()?;
    host.done(process, put("b", "session-2"))?;
    Ok(format!("refused with: {why}"))
}
