//! Agents that are none: whatever a program does, its certificate comes in bounded time, says what
//! was wrong, and leaves no process behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use skep::certify::{Bounds, Certificate, Order, Profile, Standing, certify};
use skep_trace::{Sighting, What};
use tempfile::TempDir;

/// Far more than any of these takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// For what ends by being killed, however slow the machine is.
const UNTIL_KILLED: Duration = Duration::from_secs(30);

/// A program for a shell, certified with little patience: it says nothing that is waited for.
fn certified(script: &str) -> Certificate {
    certified_within(script, Duration::from_millis(400))
}

/// The same with so much patience for an answer.
fn certified_within(script: &str, answer: Duration) -> Certificate {
    #[expect(clippy::disallowed_methods, reason = "the shell of a test needs its path")]
    let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
    let order = Order {
        command: ["sh", "-c", script].into_iter().map(Into::into).collect(),
        profile: Profile::generic(),
        env: BTreeMap::from_iter(path),
        bounds: Bounds {
            start: answer,
            answer,
            exit: Duration::from_millis(300),
            ..Bounds::immediate()
        },
        server: PathBuf::from(env!("CARGO_BIN_EXE_skep")),
    };
    #[expect(clippy::disallowed_methods, reason = "the bound that is tested is one of real time")]
    let started = Instant::now();
    let certificate = certify(&order, &|_| {}, &|| false);
    assert!(started.elapsed() < PATIENCE, "it took {:?}", started.elapsed());
    certificate
}

fn row(certificate: &Certificate, number: u8) -> (Standing, String) {
    let row = &certificate.rows[usize::from(number) - 1];
    (row.standing, row.note.clone())
}

fn sightings(certificate: &Certificate) -> Vec<&Sighting> {
    let records = certificate.trace.records.iter();
    records
        .filter_map(|record| match &record.what {
            What::Sighting { sighting, .. } => Some(sighting),
            _ => None,
        })
        .collect()
}

/// Nothing holds: whatever was not seen is not counted.
fn assert_worthless(certificate: &Certificate) {
    assert_eq!(certificate.tier, None, "{}", certificate.word());
    assert_ne!(row(certificate, 33).0, Standing::Held);
}

#[test]
fn an_agent_that_never_answers_is_not_waited_for_longer_than_said() {
    let certificate = certified("cat > /dev/null");
    assert_worthless(&certificate);
    assert_eq!(row(&certificate, 17).0, Standing::Violated);
    assert!(sightings(&certificate).iter().any(|one| matches!(one, Sighting::GaveUp { .. })));
}

#[test]
fn a_flood_on_standard_output_is_killed() {
    let certificate = certified_within("yes", UNTIL_KILLED);
    assert_worthless(&certificate);
    assert_eq!(row(&certificate, 1), (Standing::Violated, "the output is a flood".to_owned()));
}

#[test]
fn a_flood_on_standard_error_is_read_and_forgotten() {
    let certificate = certified("yes noise >&2");
    assert_worthless(&certificate);
    let lines = certificate.trace.records.iter();
    assert!(lines.filter(|record| matches!(record.what, What::Log { .. })).count() <= 2000);
}

#[test]
fn words_that_are_no_json_are_told() {
    let certificate = certified("echo hello; cat > /dev/null");
    let (standing, note) = row(&certificate, 1);
    assert_eq!(standing, Standing::Violated);
    assert!(note.contains("no message"), "{note}");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_not_kept() {
    let script = "head -c 104857600 /dev/zero | tr '\\0' x; echo; cat > /dev/null";
    let certificate = certified_within(script, UNTIL_KILLED);
    assert_eq!(row(&certificate, 1).0, Standing::Violated);
    let records = certificate.trace.records.iter();
    let kept = records.filter(|record| matches!(record.what, What::Acp { .. })).count();
    assert!(kept < 20, "{kept}");
}

#[test]
fn an_agent_that_ignores_the_end_of_its_input_and_every_request_to_end_is_killed() {
    let certificate = certified("trap '' TERM INT HUP; while :; do sleep 1; done");
    assert_eq!(row(&certificate, 16).0, Standing::Advisory);
    let ended = |record: &&skep_trace::Record| matches!(record.what, What::AgentEnded { .. });
    let ends = certificate.trace.records.iter().filter(ended).count();
    assert_eq!(ends, certificate.starts);
}

#[test]
fn what_an_agent_leaves_behind_is_killed_with_it() {
    let folder = TempDir::new().unwrap();
    let list = folder.path().join("children");
    let certificate =
        certified(&format!("sleep 1000 & echo $! >> {}; cat > /dev/null", list.display()));
    assert!(sightings(&certificate).contains(&&Sighting::Orphans));
    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    let children = std::fs::read_to_string(&list).unwrap();
    assert!(children.lines().count() >= 3, "{children}");
    for child in children.lines() {
        assert!(!lives(child), "{child} lives");
    }
}

/// Leaves its group and writes its number down.
fn stray(list: &Path) -> String {
    format!(
        "setsid sh -c 'echo $$ >> {}; exec sleep 1000' < /dev/null > /dev/null 2>&1 &",
        list.display()
    )
}

#[cfg(target_os = "linux")]
#[test]
fn what_leaves_the_group_of_an_agent_is_killed_with_it_all_the_same() {
    let folder = TempDir::new().unwrap();
    let list = folder.path().join("strays");
    for then in ["cat > /dev/null", "exit 0", HELLO_AND_GONE, LIVES_AND_LOADS] {
        let certificate = certified(&format!("{}\n{then}", stray(&list)));
        let strayed = sightings(&certificate).into_iter().filter(
            |one| matches!(one, Sighting::Strayed { command } if &**command == "sleep 1000"),
        );
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        let strays = std::fs::read_to_string(&list).unwrap();
        assert!(strayed.count() >= 3, "{then}: {strays}");
        for stray in strays.lines() {
            assert!(!lives(stray), "{then}: {stray} lives");
        }
    }
}

/// Before a process loads a session, nothing of the one before it is there to write on.
#[cfg(target_os = "linux")]
#[test]
fn no_stray_of_one_process_is_there_when_the_next_one_starts() {
    let folder = TempDir::new().unwrap();
    let (list, told) = (folder.path().join("strays"), folder.path().join("told"));
    let look = format!(
        "for one in $(cat {list} 2> /dev/null); do
           grep -q \"^HOME=$HOME\" /proc/$one/environ -z 2> /dev/null && echo $one >> {told}
         done",
        list = list.display(),
        told = told.display(),
    );
    let certificate = certified(&format!("{look}\n{}\n{LIVES_AND_LOADS}", stray(&list)));
    // Two processes share the home at the end: the second one finds the stray of the first.
    let beside = certificate.trace.records.iter().filter(|record| {
        matches!(&record.what, What::Sighting { sighting: Sighting::Asked { probe, .. }, .. }
            if &**probe == "load-beside")
    });
    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    let found = std::fs::read_to_string(&told).unwrap_or_default().lines().count();
    assert_eq!((beside.count(), found), (1, 1));
    assert!(certificate.starts >= 8, "{}", certificate.starts);
}

/// Answers whatever it is asked, and so loads whatever it is asked for.
const LIVES_AND_LOADS: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9-]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}' ;;
    *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s'$$'-'$id'"}}' ;;
    *'"session/prompt"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}' ;;
    *'"id":'[0-9]*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}' ;;
  esac
done"#;

/// Whether a process is there and no zombie.
#[expect(clippy::disallowed_methods, reason = "a test looks at the system's own files")]
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
}

#[test]
fn an_agent_that_exits_at_any_point_is_not_waited_for() {
    for script in ["exit 3", "read line; exit 0", HELLO_AND_GONE] {
        assert_worthless(&certified(script));
    }
}

/// Shakes hands and is gone.
const HELLO_AND_GONE: &str = r#"read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}'
read line; exit 1"#;

#[test]
fn an_agent_that_needs_a_login_is_blocked_and_not_judged() {
    let certificate = certified(
        r#"while read -r line; do
             id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9-]*\).*/\1/p')
             case "$line" in
               *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[{"id":"key","name":"A key"}]}}' ;;
               *'"id":'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32000,"message":"log in first"}}' ;;
             esac
           done"#,
    );
    assert_eq!(certificate.word(), "blocked");
    assert_eq!(row(&certificate, 33).0, Standing::Blocked);
    assert_eq!(row(&certificate, 32).0, Standing::Held);
}

#[test]
fn a_command_that_cannot_be_started_is_said_to_be_one() {
    let certificate = certified("exec /no/such/agent");
    assert_worthless(&certificate);
    let missing = Order {
        command: vec!["/no/such/agent".into()],
        profile: Profile::generic(),
        env: BTreeMap::new(),
        bounds: Bounds::immediate(),
        server: PathBuf::from(env!("CARGO_BIN_EXE_skep")),
    };
    let certificate = certify(&missing, &|_| {}, &|| false);
    let (standing, note) = row(&certificate, 17);
    assert_eq!(standing, Standing::Inconclusive);
    assert!(note.contains("cannot be started"), "{note}");
}
