//! Session ids: opaque, and such that whoever folds, trims or guesses them breaks.

use skep_trace::Text;

const LOWER: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8; 26] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGIT: &[u8; 10] = b"0123456789";

/// The id of an agent's nth session: `a-S1-x9Qz`. The number keeps the ids of one agent apart,
/// the name those of two agents; the tail differs between seeds and has letters of both cases.
pub(crate) fn session_id(agent: &str, seed: u64, number: u32) -> Text {
    let bits = mix(seed ^ fold(agent) ^ u64::from(number));
    let pick = |letters: &[u8], shift: u32| letters[((bits >> shift) as usize) % letters.len()];
    let tail = [pick(LOWER, 0), pick(DIGIT, 16), pick(UPPER, 32), pick(LOWER, 48)].map(char::from);
    let [a, b, c, d] = tail;
    format!("{agent}-S{number}-{a}{b}{c}{d}").into()
}

/// FNV-1a: names to numbers, the same on every machine.
fn fold(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finisher of SplitMix64: neighbours in, strangers out.
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_over_numbers_agents_and_seeds() {
        let ids: BTreeSet<Text> = ["a", "b"]
            .into_iter()
            .flat_map(|agent| (0..500).map(move |number| session_id(agent, 7, number)))
            .collect();
        assert_eq!(ids.len(), 1000);
        assert_ne!(session_id("a", 7, 1), session_id("a", 8, 1));
        assert_eq!(session_id("a", 7, 1), session_id("a", 7, 1));
    }

    #[test]
    fn folding_the_case_of_an_id_changes_it_either_way() {
        for number in 0..100 {
            let id = session_id("a", 1, number);
            assert_ne!(*id, *id.to_lowercase());
            assert_ne!(*id, *id.to_uppercase());
        }
    }
}
