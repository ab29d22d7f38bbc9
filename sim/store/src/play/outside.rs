//! What is done behind the store's back, and the paths that it is done to.

use skep_trace::Text;

use super::player::{Done, MOST_STEPS, Player, broken, unfit};
use super::{Change, Place};
use crate::suite::case::{Case, NOW, replaced};
use crate::suite::host::Step;
use crate::suite::sim_ground::named;
use crate::suite::{Edit, Failure, Host, LocalHost, STATE, SimGround, Subject};

impl<S: Subject> Player<S> {
    pub(super) fn outside(&mut self, place: Place, change: &Change) -> Done {
        let path = |player: &mut Self, path: &Text| player.path(place, path);
        let edited = match change {
            Change::File(at, text) => {
                let at = path(self, at)?;
                self.host.edit(Edit::File(&at, text.as_bytes(), 0o600))
            }
            Change::Replace(at, from, to) => {
                let at = path(self, at)?;
                let bytes = self.host.bytes(&at).map_err(|failure| broken(place, &failure))?;
                let Some(bytes) = replaced(&bytes, from, to) else {
                    return unfit(place, &format!("{at} does not have `{from}` in it"));
                };
                self.host.edit(Edit::File(&at, &bytes, 0o600))
            }
            Change::Link(at, to) => {
                let at = path(self, at)?;
                self.host.edit(Edit::Link(&at, to))
            }
            Change::Fifo(at) => {
                let at = path(self, at)?;
                self.host.edit(Edit::Fifo(&at))
            }
            Change::Dir(at) => {
                let at = path(self, at)?;
                let _ = self.host.edit(Edit::Remove(&at));
                self.host.edit(Edit::Dir(&at, 0o700))
            }
            Change::GiveAway(at) => {
                let at = path(self, at)?;
                self.host
                    .edit(Edit::Chmod(&at, 0o666))
                    .and_then(|()| self.host.edit(Edit::GiveAway(&at)))
            }
            Change::Chmod(at, mode) => {
                let at = path(self, at)?;
                self.host.edit(Edit::Chmod(&at, *mode))
            }
            Change::Full(full) => self.host.edit(Edit::Full(*full)),
            Change::ReadOnly(read_only) => self.host.edit(Edit::ReadOnly(*read_only)),
            Change::Umask(umask) => self.host.edit(Edit::Umask(*umask)),
        };
        match edited {
            Err(Failure::NotApplicable(why) | Failure::Violated(why)) => unfit(place, &why),
            Ok(()) => Ok(()),
        }
    }

    /// A path below the ground's own directory.
    pub(super) fn path(&mut self, place: Place, path: &str) -> Done<String> {
        match path {
            "@file" => self.file(place),
            "@temp" => self.temp(place),
            "@lock" => self.lock(place),
            _ => Ok(named(path)),
        }
    }

    /// The file that holds the first receipt; the same one from the first time on.
    fn file(&mut self, place: Place) -> Done<String> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let Some((_, session)) = self.given.first().cloned() else {
            return unfit(place, "`@file` is the file of what is given, and nothing is");
        };
        let file = self.host.file_with(&session).map_err(|failure| broken(place, &failure))?;
        self.file = Some(file.clone());
        Ok(file)
    }

    fn lock(&mut self, place: Place) -> Done<String> {
        let file = self.file(place)?;
        let beside = self.host.names().into_iter().map(|name| format!("{STATE}/{name}"));
        match beside.into_iter().find(|path| *path != file) {
            Some(path) => Ok(path),
            None => unfit(place, "this store keeps one file and no other"),
        }
    }

    /// The name that comes and goes when the next process puts something: tried elsewhere.
    fn temp(&mut self, place: Place) -> Done<String> {
        let mut other = LocalHost::new(self.subject.clone(), SimGround::default());
        let found = temporary_name(&mut other, &self.given());
        match found.map_err(|failure| broken(place, &failure))? {
            Some(name) => Ok(format!("{STATE}/{name}")),
            None => unfit(place, "this store uses no temporary name"),
        }
    }
}

fn temporary_name<H: Host>(
    host: &mut H,
    given: &[(&str, &str)],
) -> Result<Option<String>, Failure> {
    host.given(given)?;
    let before = host.names();
    let process = host.opened()?;
    host.begin(process, crate::suite::case::put("b", "2"), NOW)?;
    let mut fleeting = Vec::new();
    for _ in 0..MOST_STEPS {
        let step = host.step(process);
        fleeting.extend(host.names().into_iter().filter(|name| !before.contains(name)));
        if let Step::Done(_) = step {
            break;
        }
    }
    let left = host.names();
    Ok(fleeting.into_iter().find(|name| !left.contains(name)))
}
