//! What the specification is silent about: rows 115 to 125. It is recorded; only a request that
//! is never answered is remarked on.

use super::odd::recorded;
use super::{asked, outcome};
use crate::certify::evidence::Evidence;
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, counted, remark, unknown};
use crate::certify::transcript::{Role, Transcript};

/// 115: a load of a session that is open already.
pub(in crate::certify) fn active(e: &Evidence) -> Judged {
    told(e, Probe::LoadSame)
}

/// What a load came to, and how much it told.
fn told(e: &Evidence, probe: Probe) -> Judged {
    let load = asked(e, probe)?;
    let messages = Transcript::replayed(e, load).messages.len();
    Ok(format!("{}, {}", outcome(e, load), counted(messages, "message")))
}

/// 116: a load while a prompt runs.
pub(in crate::certify) fn busy(e: &Evidence) -> Judged {
    let (load, turn) = (asked(e, Probe::LoadBusy)?, asked(e, Probe::BusyTurn)?);
    match (load.answers.is_empty(), turn.answers.is_empty()) {
        (true, _) => remark("the load was never answered", e.moment(load)),
        (_, true) => remark("the prompt was never answered", e.moment(turn)),
        _ => Ok(format!("the load {}, the prompt {}", outcome(e, load), outcome(e, turn))),
    }
}

/// 117: a prompt before the answer to a load.
pub(in crate::certify) fn eager(e: &Evidence) -> Judged {
    let (load, turn) = (asked(e, Probe::EagerLoad)?, asked(e, Probe::EagerTurn)?);
    Ok(format!("the load {}, the prompt {}", outcome(e, load), outcome(e, turn)))
}

/// 118: a load with another directory.
pub(in crate::certify) fn other_directory(e: &Evidence) -> Judged {
    told(e, Probe::OtherCwd)
}

/// 120: a load that is not offered.
pub(in crate::certify) fn not_offered(e: &Evidence) -> Judged {
    recorded(e, Probe::LoadSame)
}

/// 122: a line that is no message.
pub(in crate::certify) fn bad_line(e: &Evidence) -> Judged {
    if e.did(Probe::BadLine).is_empty() {
        return unknown("none was sent");
    }
    let code = |at: &usize| {
        let json = e.json(*at);
        json["error"]["code"].as_i64().filter(|_| json["id"].is_null())
    };
    Ok(match e.strays.iter().find_map(code) {
        Some(code) => format!("it is answered with {code}"),
        None => "it is passed over".to_owned(),
    })
}

/// 123: a process that is killed in mid-turn: what is left of the turn.
pub(in crate::certify) fn mid_turn(e: &Evidence) -> Judged {
    let mut notes = Vec::new();
    for (probe, what) in
        [(Probe::LoadAfterKill, "the process"), (Probe::LoadAfterGroupKill, "its group")]
    {
        let Some(load) = e.first(probe) else { continue };
        if e.result(load).is_none() {
            return remark(
                format!("after a kill of {what} the load {}", outcome(e, load)),
                e.moment(load),
            );
        }
        let told = Transcript::replayed(e, load);
        let part = match told.messages.last() {
            Some(last) if last.role == Role::Agent && last.text.contains("word") => "both sides",
            Some(last) if last.text.contains("skep:slow") => "the question",
            _ => "nothing",
        };
        notes.push(format!("{what}: {part} of the turn"));
    }
    if notes.is_empty() { unknown("nothing was killed") } else { Ok(notes.join(", ")) }
}

/// 124: two processes with one session.
pub(in crate::certify) fn beside(e: &Evidence) -> Judged {
    told(e, Probe::LoadBeside)
}

/// 125: how much a load tells.
pub(in crate::certify) fn volume(e: &Evidence) -> Judged {
    let load = asked(e, Probe::LoadBulk)?;
    let bytes: usize = e.between(load).map(|(at, _)| e.lines[at].raw.len()).sum();
    Ok(format!("{}, {bytes} bytes", counted(e.between(load).count(), "line")))
}
