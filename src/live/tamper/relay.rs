//! Between a relay and a harness: messages lost and doubled.

use std::collections::BTreeSet;

use skep_trace::{Hex32, Life, RelayMsg};

use crate::tampering::Tampering;

/// The kind of a channel message.
const KIND_MESSAGE: u16 = 9;

/// What was lost so far. A message that is delivered again is lost again.
#[derive(Debug, Default)]
pub(in crate::live) struct Lossy {
    lost: BTreeSet<(Life, Hex32)>,
}

impl Lossy {
    /// How often a message reaches a life.
    pub(in crate::live) fn copies(
        &mut self,
        tampering: Tampering,
        life: &Life,
        message: &RelayMsg,
    ) -> usize {
        let RelayMsg::Event { event, .. } = message else { return 1 };
        match tampering {
            Tampering::MessageTwice if event.kind == KIND_MESSAGE => 2,
            Tampering::MessageLost if event.kind == KIND_MESSAGE => {
                let none = !self.lost.iter().any(|(lost, _)| lost == life);
                let key = (life.clone(), event.id());
                if none {
                    self.lost.insert(key.clone());
                }
                usize::from(!self.lost.contains(&key))
            }
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skep_trace::NostrEvent;

    use super::*;

    #[test]
    fn the_first_message_to_a_life_is_lost_however_often_it_comes() {
        let mut lossy = Lossy::default();
        let life = |life| Life { harness: "h".into(), life };
        let message = |at: u64| {
            let event = NostrEvent::new(Hex32([1; 32]), at, KIND_MESSAGE, Vec::new(), "x".into());
            RelayMsg::Event { sub: "ch".into(), event: Arc::new(event) }
        };
        let mut copies = |life, at| lossy.copies(Tampering::MessageLost, &life, &message(at));
        assert_eq!([copies(life(1), 1), copies(life(1), 2), copies(life(1), 1)], [0, 1, 0]);
        assert_eq!([copies(life(2), 2), copies(life(2), 1)], [0, 1]);
        let twice = lossy.copies(Tampering::MessageTwice, &life(1), &message(1));
        assert_eq!(twice, 2);
    }
}
