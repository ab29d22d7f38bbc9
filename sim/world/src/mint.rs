//! Every id of a run, made from its seed and a name.

use sha2::{Digest, Sha256};
use skep_trace::{Hex32, Text};

/// The instant at which every simulated run begins: 2026-01-01T00:00:00Z, in seconds since 1970.
/// A fixed day, so that the same seed gives the same ids for ever.
pub const EPOCH_S: u64 = 1_767_225_600;

/// Makes ids from one seed.
#[derive(Clone, Copy, Debug)]
pub struct Mint {
    seed: u64,
}

impl Mint {
    /// The mint of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Thirty-two bytes for a name.
    pub fn bytes(&self, name: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(name.as_bytes());
        hash.finalize().into()
    }

    /// The channel's UUID (its version and variant bits say 4), in lower case.
    pub fn channel(&self, name: &str) -> Text {
        let mut bytes = self.bytes(&format!("channel/{name}"));
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex = skep_trace::hex::encode(&bytes[..16]);
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        format!("{a}-{b}-{c}-{d}-{e}").into()
    }

    /// An id that stands for nothing else in the run.
    pub fn hex(&self, name: &str) -> Hex32 {
        Hex32(self.bytes(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_has_one_uuid_a_seed() {
        let id = Mint::new(7).channel("general");
        assert_eq!(id, Mint::new(7).channel("general"));
        assert_ne!(id, Mint::new(8).channel("general"));
        assert_eq!(id.len(), 36);
        assert_eq!(&id[14..15], "4");
    }
}
