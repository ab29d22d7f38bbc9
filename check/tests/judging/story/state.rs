//! What is seen of state directories and of what a harness holds.

use std::sync::Arc;

use skep_trace::{Entry, EntryKind, Receipt, Snapshot, Text, What};

use super::{Story, channel_id, key_of};

impl Story {
    /// The harness that acts tells what it holds.
    pub(crate) fn holds(&mut self, labels: &[&str]) -> &mut Self {
        let messages = labels.iter().map(|label| self.id(label)).collect();
        let harness = self.life.clone();
        self.happens(What::Held { harness, messages })
    }

    /// The store of `h` answers with these receipts: channel and session.
    pub(crate) fn remembers(&mut self, receipts: &[(&str, &str)]) -> &mut Self {
        let receipts = receipts.iter().map(|(channel, session)| Receipt {
            relay: "ws://r".into(),
            pubkey: key_of("h"),
            channel: channel_id(channel).into(),
            root: None,
            session: (*session).into(),
            model: None,
            mode: None,
        });
        let receipts = receipts.collect();
        self.happens(What::Receipts { state: "h".into(), receipts })
    }

    /// The state directory of `h` looks like this: paths, modes and contents.
    pub(crate) fn disk(&mut self, files: &[(&str, u32, &str)]) -> &mut Self {
        self.looks(files, false)
    }

    /// The scenario itself made it look like this.
    pub(crate) fn baseline(&mut self, files: &[(&str, u32, &str)]) -> &mut Self {
        self.looks(files, true)
    }

    fn looks(&mut self, files: &[(&str, u32, &str)], baseline: bool) -> &mut Self {
        let entries = files.iter().map(|(path, mode, content)| {
            let kind = match *content {
                "<dir>" => EntryKind::Dir,
                "<link>" => EntryKind::Symlink("elsewhere".into()),
                "<special>" => EntryKind::Special,
                text => EntryKind::file(text.as_bytes()),
            };
            (Text::from(*path), Entry { kind, mode: *mode })
        });
        let snapshot = Arc::new(Snapshot { entries: entries.collect() });
        self.happens(What::Disk { state: "h".into(), snapshot, baseline })
    }
}
