//! `session/list`.

use serde_json::{Value, json};

use super::agent::{INVALID_PARAMS, Refusal, Solo, misfit};
use super::defect::Defect;
use super::ground::{Facts, Ground, Kept};
use super::session::PREFIX;

/// Sessions on a page: few, so that every client meets a second page.
const PAGE: usize = 4;

impl Solo {
    /// By id, a page at a time; the cursor is where the next page begins.
    pub(super) fn list(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        let cwd = params["cwd"].as_str();
        let mut entries = self.entries(cwd, ground);
        if entries.is_empty() && self.has(Defect::ListRefuses) {
            return Err((INVALID_PARAMS, "there are none".to_owned()));
        }
        let start = match &params["cursor"] {
            Value::Null => Some(0),
            cursor => cursor.as_str().and_then(|cursor| cursor.parse().ok()),
        };
        let start = start.filter(|start| *start <= entries.len());
        let start = if self.has(Defect::AnyCursor) { start.or(Some(0)) } else { start };
        let mut rest = entries.split_off(start.ok_or_else(|| misfit("cursor"))?);
        let more = rest.len() > PAGE;
        rest.truncate(PAGE);
        let next = start.unwrap_or(0) + rest.len();
        let mut page = json!({"sessions": rest});
        if self.has(Defect::EndlessList) {
            page["nextCursor"] = "0".into();
        } else if more {
            page["nextCursor"] = next.to_string().into();
        }
        Ok(page)
    }

    fn entries(&mut self, cwd: Option<&str>, ground: &mut dyn Ground) -> Vec<Value> {
        let mut entries = Vec::new();
        for id in ground.ids() {
            let id = if self.has(Defect::PrefixesIds) { format!("{PREFIX}{id}") } else { id };
            let Some(kept) = self.known(&id, ground) else { continue };
            if !cwd.is_none_or(|cwd| self.lists_under(&kept.facts.cwd, cwd)) {
                continue;
            }
            if self.has(Defect::ListTouches) {
                ground.put(
                    &id,
                    &Facts { used_ms: kept.facts.used_ms + 60_000, ..kept.facts.clone() },
                );
            }
            entries.push(self.shown(Self::entry(&id, &kept)));
        }
        let made_up = |id: &String| self.shown(json!({"sessionId": id, "cwd": cwd.unwrap_or("/")}));
        if self.has(Defect::ListsFailed) && cwd.is_none() {
            entries.extend(self.memory.failed_ids.iter().map(made_up));
        }
        if self.has(Defect::DeleteKeeps) {
            entries.splice(0..0, self.memory.deleted.values().cloned());
        }
        if self.has(Defect::ListsGhosts) && !entries.is_empty() {
            entries.push(made_up(&"Sghost".to_owned()));
        }
        entries
    }

    fn lists_under(&self, cwd: &str, wanted: &str) -> bool {
        cwd == wanted || cwd.starts_with(wanted) && self.has(Defect::ListIgnoresCwd)
    }

    fn shown(&self, mut entry: Value) -> Value {
        if self.has(Defect::ListsHalf) {
            entry.as_object_mut().expect("an entry").remove("cwd");
        }
        if self.has(Defect::OddDates) {
            entry["updatedAt"] = "1764452057".into();
        }
        entry
    }

    /// One session of a list.
    pub(super) fn entry(id: &str, kept: &Kept) -> Value {
        let mut entry = json!({
            "sessionId": id, "cwd": kept.facts.cwd, "updatedAt": iso(kept.facts.used_ms),
        });
        if let Some(title) = kept.title() {
            entry["title"] = title.into();
        }
        if !kept.facts.directories.is_empty() {
            entry["additionalDirectories"] = kept.facts.directories.clone().into();
        }
        entry
    }
}

/// An instant as ISO 8601 has it, in UTC.
fn iso(ms: u64) -> String {
    let seconds = ms / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// The date so many days after 1 January 1970.
fn date(days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut left) = (1970, days);
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if left < length {
            break;
        }
        left -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_the_calendar_has_them() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(iso(1_764_452_057_000), "2025-11-29T21:34:17.000Z");
    }
}
