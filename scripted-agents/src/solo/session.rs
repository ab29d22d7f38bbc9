//! Making, resuming, forking, closing and changing sessions.

use serde_json::{Value, json};

use super::agent::{LOGIN_NEEDED, Refusal, Solo, misfit, not_found};
use super::defect::Defect;
use super::ground::{Facts, Ground, Kept};
use super::offer::{MODES, STYLES};

impl Solo {
    pub(super) fn new_session(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        if self.has(Defect::WantsLogin) {
            return Err((LOGIN_NEEDED, "log in first".to_owned()));
        }
        let mut facts = self.facts(params, true, ground)?;
        let servers = params["mcpServers"].as_array().map_or(0, Vec::len);
        if servers == 0 && self.has(Defect::WantsServers) {
            return Err(misfit("mcpServers"));
        }
        if self.has(Defect::AsksUninvited) {
            self.ask("fs/read_text_file", &json!({"sessionId": "none", "path": "/etc/hostname"}));
        }
        if self.has(Defect::StaysAtHome) {
            facts.cwd = ground.birthplace();
        }
        self.start_servers(params, ground);
        let id = self.mint(ground);
        facts.born = self.process;
        facts.client = self.client.clone();
        ground.put(&id, &facts);
        self.open.insert(id.clone());
        let mut result = self.choices(&facts);
        result["sessionId"] = id.into();
        Ok(result)
    }

    /// Letters of both cases, so that whoever folds them is found out.
    fn mint(&mut self, ground: &dyn Ground) -> String {
        if self.has(Defect::ReusesIds)
            && self.process > 1
            && let Some(id) = ground.ids().into_iter().find(|id| is_empty(ground, id))
        {
            return id;
        }
        self.minted += 1;
        let seed = u64::from(self.process) * 7919 + u64::from(self.minted) * 104_729;
        let letters = b"aBcDeFgHiJkLmNoPqRsTuVwXyZ";
        let letter = |at: u32| char::from(letters[usize::try_from(seed >> at).unwrap_or(0) % 26]);
        let tail: String = [1, 3, 5, 7].into_iter().map(letter).collect();
        format!("S{}-{}-{tail}q", self.process, self.minted)
    }

    /// What a setup says of a session.
    pub(super) fn facts(
        &self,
        params: &Value,
        needs_servers: bool,
        ground: &dyn Ground,
    ) -> Result<Facts, Refusal> {
        let cwd = params["cwd"].as_str().filter(|cwd| cwd.starts_with('/'));
        let cwd = cwd.ok_or_else(|| misfit("cwd"))?.to_owned();
        let servers = &params["mcpServers"];
        if !(servers.is_array() || servers.is_null() && !needs_servers) {
            return Err(misfit("mcpServers"));
        }
        Ok(Facts {
            cwd,
            directories: self.directories(&params["additionalDirectories"])?,
            used_ms: ground.now_ms(),
            ..Facts::default()
        })
    }

    fn directories(&self, given: &Value) -> Result<Vec<String>, Refusal> {
        let wrong = || misfit("additionalDirectories");
        match given {
            Value::Null => Ok(Vec::new()),
            Value::Array(list) => list
                .iter()
                .map(|one| {
                    let fits =
                        |path: &&str| path.starts_with('/') || self.has(Defect::TakesAnyDirectory);
                    one.as_str().filter(fits).map(str::to_owned).ok_or_else(wrong)
                })
                .collect(),
            _ => Err(wrong()),
        }
    }

    pub(super) fn start_servers(&mut self, params: &Value, ground: &mut dyn Ground) -> bool {
        let servers = params["mcpServers"].as_array().cloned().unwrap_or_default();
        let dead = servers.iter().filter(|server| !ground.start(server)).count();
        dead == 0
    }

    /// A session that this process may know.
    pub(super) fn known(&self, id: &str, ground: &dyn Ground) -> Option<Kept> {
        if self.has(Defect::PrefixesIds) && !id.starts_with(PREFIX) {
            return None;
        }
        let kept = ground.read(&self.own_name(id))?;
        if self.has(Defect::MemoryOnly) && kept.facts.born != self.process {
            return None;
        }
        Some(kept)
    }

    /// The name under which a session is kept.
    pub(super) fn own_name(&self, id: &str) -> String {
        id.strip_prefix(PREFIX).filter(|_| self.has(Defect::PrefixesIds)).unwrap_or(id).to_owned()
    }

    pub(super) fn resume(
        &mut self,
        request: &Value,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        if self.has(Defect::OffersNothing) {
            return Err(self.unknown_method("session/resume"));
        }
        let id = session_id(params)?;
        let setup = self.facts(params, self.has(Defect::ResumeNeedsServers), ground)?;
        let Some(kept) = self.known(&id, ground) else {
            if self.has(Defect::ResumesAnything) {
                return Ok(self.choices(&Facts::default()));
            }
            return Err(not_found(&id));
        };
        let facts = self.moved(&kept.facts, &setup);
        ground.put(&id, &facts);
        self.start_servers(params, ground);
        self.enter(&id, self.has(Defect::ResumesEmpty));
        if self.has(Defect::ResumesAloud) {
            self.replay(request, &id, &kept);
        }
        Ok(self.choices(&facts))
    }

    /// Opens a session that was there before.
    pub(super) fn enter(&mut self, id: &str, forgets: bool) {
        self.open.insert(id.to_owned());
        self.loaded.insert(id.to_owned());
        if forgets {
            self.amnesiac.insert(id.to_owned());
        }
    }

    /// A session's facts where it is opened with another setup.
    pub(super) fn moved(&self, facts: &Facts, setup: &Facts) -> Facts {
        let directories = if self.has(Defect::KeepsDirectories) {
            facts.directories.clone()
        } else {
            setup.directories.clone()
        };
        Facts { cwd: setup.cwd.clone(), directories, ..facts.clone() }
    }

    pub(super) fn fork(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        let id = session_id(params)?;
        let setup = self.facts(params, false, ground)?;
        let kept = self.known(&id, ground).ok_or_else(|| not_found(&id))?;
        let fork = if self.has(Defect::ForkIsSelf) { id } else { self.mint(ground) };
        let facts = Facts { born: self.process, ..self.moved(&kept.facts, &setup) };
        ground.put(&fork, &facts);
        if !self.has(Defect::ForkIsSelf) {
            kept.history.iter().for_each(|update| ground.append(&fork, update));
        }
        self.open.insert(fork.clone());
        let mut result = self.choices(&facts);
        result["sessionId"] = fork.into();
        Ok(result)
    }

    pub(super) fn close(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        let id = session_id(params)?;
        if !self.open.remove(&id) {
            return Err(not_found(&id));
        }
        if !self.has(Defect::CloseWaits) {
            self.end_turns(&id, ground);
        }
        Ok(json!({}))
    }

    /// A session that is not there is gone already.
    pub(super) fn delete(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        let id = session_id(params)?;
        self.end_turns(&id, ground);
        self.open.remove(&id);
        match ground.read(&id) {
            Some(kept) => {
                ground.remove(&id);
                self.memory.deleted.insert(id.clone(), Self::entry(&id, &kept));
            }
            None if self.has(Defect::DeleteOnce) => return Err(not_found(&id)),
            None => {}
        }
        Ok(json!({}))
    }

    pub(super) fn set_mode(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        self.choose(params, &params["modeId"], ground).map(|_| json!({}))
    }

    pub(super) fn set_option(
        &mut self,
        params: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Value, Refusal> {
        let facts = match params["configId"].as_str() {
            Some("mode") => self.choose(params, &params["value"], ground)?,
            Some("style") => self.choose_style(params, ground)?,
            _ => return Err(misfit("configId")),
        };
        let shown = if self.has(Defect::OldOption) { &Facts::default() } else { &facts };
        let mut options = self.options(shown);
        if self.has(Defect::HalfOptions) {
            options.as_array_mut().expect("a list").truncate(1);
        }
        Ok(json!({"configOptions": options}))
    }

    fn choose_style(&mut self, params: &Value, ground: &mut dyn Ground) -> Result<Facts, Refusal> {
        let style = params["value"].as_str().filter(|style| STYLES.contains(style));
        let style = style.ok_or_else(|| misfit("value"))?.to_owned();
        let id = session_id(params)?;
        let kept = self.known(&id, ground).ok_or_else(|| not_found(&id))?;
        let facts = Facts { style: Some(style), ..kept.facts };
        ground.put(&self.own_name(&id), &facts);
        Ok(facts)
    }

    fn choose(
        &mut self,
        params: &Value,
        mode: &Value,
        ground: &mut dyn Ground,
    ) -> Result<Facts, Refusal> {
        let id = session_id(params)?;
        if !self.open.contains(&id) {
            return Err(not_found(&id));
        }
        let mode =
            mode.as_str().filter(|mode| MODES.contains(mode)).ok_or_else(|| misfit("mode"))?;
        let kept = ground.read(&id).ok_or_else(|| not_found(&id))?;
        let facts = Facts { mode: Some(mode.to_owned()), ..kept.facts };
        ground.put(&id, &facts);
        Ok(facts)
    }
}

/// What stands before an id where it is known by another than was given.
pub(super) const PREFIX: &str = "session:";

/// The session that a request names.
pub(super) fn session_id(params: &Value) -> Result<String, Refusal> {
    params["sessionId"].as_str().map(str::to_owned).ok_or_else(|| misfit("sessionId"))
}

fn is_empty(ground: &dyn Ground, id: &str) -> bool {
    ground.read(id).is_some_and(|kept| kept.history.is_empty())
}
