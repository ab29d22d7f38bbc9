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
use crate::words::{times, violated};

/// Watches for published events.
pub(crate) struct RelayWatch {
    wanted: WantedRelay,
    never: bool,
    /// The events that fit, and the first record of each.
    hits: Vec<(skep_trace::Hex32, usize)>,
    found: Option<Found>,
}

impl RelayWatch {
    pub(crate) fn new(wanted: WantedRelay, never: bool) -> Self {
        Self { wanted, never, hits: Vec::new(), found: None }
    }

    fn fits(&self, life: LifeId, event: &NostrEvent, facts: &Facts) -> bool {
        let wanted = &self.wanted;
        let in_channel = |name: &skep_trace::Text| {
            let id = facts.names.id(NameKind::Channel, name).map(|id| channel_of(id));
            id.is_some() && id == channel_tag(event)
        };
        wanted.kind.is_none_or(|kind| kind == event.kind)
            && wanted.harness.as_ref().is_none_or(|it| *it == facts.lives.get(life).life.harness)
            && wanted.text.as_ref().is_none_or(|text| event.content.contains(&**text))
            && wanted.channel.as_ref().is_none_or(in_channel)
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
            let title = format!("the harness published {} that it was not to", self.what());
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
        let title = format!("the harness did not publish {}", self.what());
        Found::violated(blame, title, format!("{seen}{why}"), stretch.end())
            .because(self.hits.iter().map(|(_, record)| cause(*record, "seen here")))
            .because(causes)
    }
}

impl Watch for RelayWatch {
    fn see(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        if let Seen::Spoke { life, event } = &moment.seen {
            let fits = self.fits(*life, event, facts);
            if fits && !self.hits.iter().any(|(id, _)| *id == event.id()) {
                self.hits.push((event.id(), moment.record));
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
