//! Which seeds are meant, and which part of them is this process's.

use std::ffi::OsString;

use crate::explore::sweep::Seeds;

/// One part of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 0.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

/// How services tell a job its number: the variables of the number and of the count, and the first
/// number.
const SERVICES: [(&str, &str, u64); 5] = [
    ("SKEP_SHARD", "SKEP_SHARDS", 0),
    ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1), // GitLab
    ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0),
    ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0),
    ("JOB_COMPLETION_INDEX", "SKEP_SHARDS", 0), // Kubernetes, whose jobs do not tell their number
];

/// Reads `0/4`.
pub fn parse(text: &str) -> Result<Shard, String> {
    let wrong = || "write which part of how many, from 0: `0/4`".to_owned();
    let (number, of) = text.split_once('/').ok_or_else(wrong)?;
    let read = |word: &str| word.trim().parse::<u64>().map_err(|_| wrong());
    checked(read(number)?, read(of)?)
}

fn checked(number: u64, of: u64) -> Result<Shard, String> {
    if of == 0 || number >= of {
        return Err(format!("there is no part {number} of {of}: the first is 0"));
    }
    Ok(Shard { number, of })
}

/// Reads `500` or `1000..2000`.
pub fn parse_seeds(text: &str) -> Result<Seeds, String> {
    let wrong = || "write how many, or from which to before which: `500`, `1000..2000`".to_owned();
    let read = |word: &str| word.trim().parse::<u64>().map_err(|_| wrong());
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (read(from)?, read(to)?),
        None => (0, read(text)?),
    };
    if from >= to {
        return Err(wrong());
    }
    Ok(Seeds::all(from..to))
}

/// The part that the environment says is ours; `None` where nothing says so.
///
/// # Errors
/// When it says something that makes no sense.
pub fn from_environment(
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Option<Shard>, String> {
    let read = |name: &str| -> Result<Option<u64>, String> {
        let Some(value) = variable(name) else { return Ok(None) };
        let value = value.to_string_lossy().into_owned();
        value.trim().parse().map(Some).map_err(|_| format!("{name}={value} is no number"))
    };
    for (number, of, first) in SERVICES {
        if let (Some(number), Some(of)) = (read(number)?, read(of)?) {
            let number = number.checked_sub(first).ok_or("the first shard is 1 here")?;
            return checked(number, of).map(Some);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_seeds_are_read() {
        assert_eq!(parse("1/4"), Ok(Shard { number: 1, of: 4 }));
        assert!(parse("4/4").unwrap_err().contains("the first is 0"));
        assert!(parse("x").is_err());
        assert_eq!(parse_seeds("500"), Ok(Seeds::all(0..500)));
        assert_eq!(parse_seeds("7..9"), Ok(Seeds::all(7..9)));
        assert!(parse_seeds("9..7").is_err());
    }

    #[test]
    fn services_tell_their_jobs_apart() {
        let with = |pairs: &'static [(&str, &str)]| {
            from_environment(&move |name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(*value))
            })
        };
        assert_eq!(with(&[]), Ok(None));
        let gitlab = with(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "3")]);
        assert_eq!(gitlab, Ok(Some(Shard { number: 0, of: 3 })));
        let kubernetes = with(&[("JOB_COMPLETION_INDEX", "2"), ("SKEP_SHARDS", "3")]);
        assert_eq!(kubernetes, Ok(Some(Shard { number: 2, of: 3 })));
        assert!(with(&[("SKEP_SHARD", "x"), ("SKEP_SHARDS", "3")]).is_err());
    }
}
