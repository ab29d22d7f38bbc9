//! What must be so, and whether it is.

use skep_trace::Text;

use super::player::{Done, Guest, Player, must, unfit};
use super::{Expectation, Place, answer_word};
use crate::explore::{Outcome, judge};
use crate::ops::StoreOp;
use crate::suite::case::Case;
use crate::suite::sequence::Fate;
use crate::suite::{Failure, Host, Subject};

impl<S: Subject> Player<S> {
    pub(super) fn expect(&mut self, place: Place, expectation: &Expectation) -> Done {
        match expectation {
            Expectation::Explained => self.explained(place),
            Expectation::Mode(path, mode) => {
                let path = self.path(place, path)?;
                let entry = self.host.look().entries.get(&*path).map(|entry| entry.mode);
                let seen = entry.map_or("nothing".to_owned(), |mode| format!("{mode:04o}"));
                let is_so = entry == Some(*mode);
                must(place, is_so, || format!("{path} has {seen}, not {mode:04o}"))
            }
            Expectation::Holds(path, text) => {
                let path = self.path(place, path)?;
                let bytes = self.host.look().bytes(&path).map(<[u8]>::to_vec);
                let is_so = bytes.as_deref() == Some(text.as_bytes());
                must(place, is_so, || format!("{path} holds {}", shown(bytes.as_deref())))
            }
            Expectation::Kept(text) => {
                let snapshot = self.host.look();
                let is_so = snapshot.files().any(|(_, _, bytes)| bytes == Some(text.as_bytes()));
                must(place, is_so, || format!("no file holds {text:?} any more"))
            }
            Expectation::Warned(name) => {
                let process = self.guest(place, name)?.process;
                let warned = !self.host.warnings(process).is_empty();
                must(place, warned, || format!("`{name}` is warned of nothing"))
            }
            Expectation::NoName(part) => {
                let names = self.host.names();
                let found = names.iter().find(|name| name.contains(&**part));
                must(place, found.is_none(), || {
                    format!("{} is there", found.map_or("something", |name| name))
                })
            }
        }
    }

    fn explained(&mut self, place: Place) -> Done {
        if let Some((name, _)) = self.guests.iter().find(|(_, guest)| guest.before.is_some()) {
            return unfit(place, &format!("`{name}` is neither done nor stopped"));
        }
        let listing = self.host.listing().map(|mut listing| {
            listing.sort();
            listing
        });
        let (ops, fates): (Vec<StoreOp>, Vec<Fate>) = self.ops.iter().cloned().unzip();
        let outcome = judge(&self.given(), &ops, &fates, listing.as_ref().ok());
        must(place, outcome == Outcome::Sound, || {
            let left = match &listing {
                Ok(listing) if listing.is_empty() => "nothing".to_owned(),
                Ok(listing) => {
                    listing.iter().map(|(c, s)| format!("{c}={s}")).collect::<Vec<_>>().join(" ")
                }
                Err(Failure::Violated(why) | Failure::NotApplicable(why)) => why.clone(),
            };
            format!("{}: {}; a new process finds {left}", outcome.word(), self.answers())
        })
    }

    /// What each begun operation was answered.
    fn answers(&self) -> String {
        let answer = |(name, guest): (&Text, &Guest)| {
            let fate = &self.ops[guest.op?].1;
            let word = fate.answer.as_ref().map_or("not answered".to_owned(), |(_, answer)| {
                format!("answered `{}`", answer_word(answer))
            });
            Some(format!("`{name}` was {word}"))
        };
        self.guests.iter().filter_map(answer).collect::<Vec<_>>().join(", ")
    }
}

/// Bytes for a person: a text, cut where it is long.
fn shown(bytes: Option<&[u8]>) -> String {
    let Some(bytes) = bytes else { return "nothing, and is gone".to_owned() };
    let text: String = String::from_utf8_lossy(bytes).chars().take(60).collect();
    format!("{text:?}")
}
