//! `expect relay event kind=9`: events that a harness published, each id counted once.

use skep_trace::{NameKind, NostrEvent};

use super::obstacle::{Obstacle, obstacle};
use super::{Bind, Found, Stretch, Watch, cause};
use crate::expectation::WantedRelay;
use crate::facts::Facts;
use crate::facts::ids::LifeId;
use crate::facts::moment::{Moment, Seen};
use crate::facts::scope::{channel_of, channel_tag};
use crate::verdict::Blame;
use crate::words::{shortened, times, violated};

/// Watches for published events.
pub(crate) struct RelayWatch {
    wanted: WantedRelay,
    never: bool,
    /// The events that fit, and the first record of each.
    hits: Vec<(skep_trace::Hex32, usize)>,
    /// The first event of that kind that does not fit, and what about it differs.
    near: Option<(usize, String)>,
    found: Option<Found>,
}

impl RelayWatch {
    pub(crate) fn new(wanted: WantedRelay, never: bool) -> Self {
        Self { wanted, never, hits: Vec::new(), near: None, found: None }
    }

    /// What about an event of the right kind is not as asked.
    fn difference(&self, life: LifeId, event: &NostrEvent, facts: &Facts) -> Option<String> {
        let (wanted, own) = (&self.wanted, &facts.lives.get(life).life.harness);
        if wanted.harness.as_ref().is_some_and(|it| it != own) {
            return Some(format!("it was {own} that did"));
        }
        if let Some(text) = wanted.text.as_ref().filter(|text| !event.content.contains(&***text)) {
            let (is, text) = (shortened(&event.content), shortened(text));
            return Some(format!("its text is \"{is}\" and does not hold \"{text}\""));
        }
        let name = wanted.channel.as_ref()?;
        let id = facts.names.id(NameKind::Channel, name).map(|id| channel_of(id));
        let own = channel_tag(event);
        match own {
            own if id.is_some() && id == own => None,
            Some(own) => Some(format!("it was in {}", facts.names.name(NameKind::Channel, &own))),
            None => Some("it was in no channel".to_owned()),
        }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.hits.len()).unwrap_or(u32::MAX)
    }

    fn what(&self) -> String {
        match self.wanted.kind {
            Some(kind) => format!("an event of kind {kind}"),
            None => "an event".to_owned(),
        }
    }

    fn judge(&self, facts: &Facts, stretch: &Stretch) -> Found {
        let limit = if self.never { Some(0) } else { self.wanted.count.at_most };
        let many = self.count();
        let too_many = limit.and_then(|most| self.hits.get(usize::try_from(most).ok()?));
        if let Some((_, record)) = too_many {
            let title = match limit {
                Some(0) | None => {
                    format!("the harness published {} that it was not to", self.what())
                }
                Some(most) => {
                    format!(
                        "the harness published {} {}, not {}",
                        self.what(),
                        times(many),
                        times(most)
                    )
                }
            };
            let label = violated(many - limit.unwrap_or(0), facts.at_ms(*record));
            return Found::violated(Blame::Harness, title, label, *record);
        }
        if self.never || self.wanted.count.reached(many) {
            return Found::held(match self.hits.first() {
                None => "never seen".to_owned(),
                Some((_, first)) => format!("seen {}, at {}", times(many), facts.instant(*first)),
            });
        }
        let Obstacle { blame, sentence, causes } =
            obstacle(facts, stretch, self.wanted.harness.as_deref());
        let why = sentence.map(|sentence| format!(": {sentence}")).unwrap_or_default();
        let seen =
            if many == 0 { "not seen".to_owned() } else { format!("seen only {}", times(many)) };
        let title = match &self.near {
            Some((_, difference)) if many == 0 && self.wanted.kind.is_some() => {
                format!("the harness published {}, but {difference}", self.what())
            }
            Some(_) if many == 0 => "the harness published no such event".to_owned(),
            _ => format!("the harness did not publish {}", self.what()),
        };
        let near = self.near.as_ref();
        let near =
            near.map(|(record, difference)| cause(*record, format!("here, but {difference}")));
        Found::violated(blame, title, format!("{seen}{why}"), stretch.end())
            .because(self.hits.iter().map(|(_, record)| cause(*record, "seen here")))
            .because(near)
            .because(causes)
    }
}

impl Watch for RelayWatch {
    fn see(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        if let Seen::Spoke { life, event } = &moment.seen {
            if self.wanted.kind.is_some_and(|kind| kind != event.kind) {
                return None;
            }
            match self.difference(*life, event, facts) {
                None if self.hits.iter().any(|(id, _)| *id == event.id()) => {}
                None => self.hits.push((event.id(), moment.record)),
                Some(difference) => {
                    self.near.get_or_insert((moment.record, difference));
                }
            }
        }
        None
    }

    fn unmet(&self, _facts: &Facts) -> bool {
        !self.never && !self.wanted.count.reached(self.count())
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        self.found = Some(self.judge(facts, stretch));
    }

    fn found(&self, _facts: &Facts) -> Found {
        self.found.clone().unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}
