//! Key pairs: made from names, so that every run of a scenario has the same ones.
//!
//! Nothing here draws randomness: a signature and a sealed text are functions of what is signed
//! or sealed, and two runs agree in every byte. These keys protect nothing, they are for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nostr::key::{PublicKey, SecretKey};
use nostr::nips::nip19::ToBech32;
use nostr::nips::nip44;
use nostr::nips::nip44::v2::{ConversationKey, encrypt_to_bytes_with_nonce};
use secp256k1::{All, Keypair, Secp256k1, XOnlyPublicKey, schnorr};
use sha2::{Digest, Sha256};
use skep_trace::Hex32;
use thiserror::Error;

static CURVE: LazyLock<Secp256k1<All>> = LazyLock::new(Secp256k1::new);
static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// Every pair that was ever asked for. They are kept for the life of the process: a run names
/// a handful, and making one costs more than keeping it.
#[derive(Default)]
struct Known {
    by_name: BTreeMap<String, &'static Keys>,
    by_pubkey: BTreeMap<Hex32, &'static Keys>,
}

/// A key pair.
pub struct Keys {
    /// The public half, as events carry it.
    pub pubkey: Hex32,
    secret: SecretKey,
    pair: Keypair,
    signed: Mutex<BTreeMap<Hex32, [u8; 64]>>,
}

/// How many of its signatures a pair remembers: one event goes to several readers, and signing
/// costs more than all the rest of its bytes.
const REMEMBERED: usize = 1_024;

/// Why a text was not sealed or not opened.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SealError {
    /// The other side's key is no point of the curve.
    #[error("`{0}` is no public key")]
    Key(Hex32),
    /// There is nothing to seal, or too much.
    #[error("a sealed text has between 1 and 4294967295 bytes, not {0}")]
    Length(usize),
    /// The sealed bytes are damaged, or sealed to somebody else.
    #[error("the sealed text cannot be opened: {0}")]
    Sealed(String),
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("pubkey", &self.pubkey).finish_non_exhaustive()
    }
}

impl Keys {
    /// The key pair of this name: the same on every machine, in every run.
    pub fn named(name: &str) -> &'static Self {
        if let Some(keys) = read(|known| known.by_name.get(name).copied()) {
            return keys;
        }
        let keys = Self::keep(Self::from_name(name));
        write(|known| *known.by_name.entry(name.to_owned()).or_insert(keys))
    }

    /// The key pair of a secret as an environment carries it: `nsec1…` or 64 hex digits.
    pub fn from_secret(secret: &str) -> Option<&'static Self> {
        Some(Self::keep(Self::new(SecretKey::parse(secret).ok()?)))
    }

    /// The key pair of a public key, if it was asked for by name or secret before.
    pub fn of(pubkey: &Hex32) -> Option<&'static Self> {
        read(|known| known.by_pubkey.get(pubkey).copied())
    }

    /// The secret half as 64 hex digits.
    pub fn secret_hex(&self) -> String {
        self.secret.to_secret_hex()
    }

    /// The secret half as `nsec1…`.
    pub fn nsec(&self) -> String {
        match self.secret.to_bech32() {
            Ok(nsec) => nsec,
            Err(never) => match never {},
        }
    }

    /// Signs an event's id (BIP-340, no auxiliary randomness).
    pub fn sign(&self, id: &Hex32) -> [u8; 64] {
        let mut signed = self.signed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signature) = signed.get(id) {
            return *signature;
        }
        let signature = CURVE.sign_schnorr_no_aux_rand(&id.0, &self.pair).to_byte_array();
        if signed.len() >= REMEMBERED {
            signed.clear();
        }
        signed.insert(*id, signature);
        signature
    }

    /// Seals a text to one reader (NIP-44). The nonce comes from the keys and the text.
    ///
    /// # Errors
    /// When the reader's key is none, or the text has a length that cannot be sealed.
    pub fn seal(&self, reader: &Hex32, text: &str) -> Result<String, SealError> {
        let shared = self.shared_with(reader)?;
        let mut nonce = Sha256::new();
        nonce.update(b"skep/nonce");
        nonce.update(shared.as_bytes());
        nonce.update(text);
        let sealed = encrypt_to_bytes_with_nonce(&shared, text.as_bytes(), nonce.finalize().into())
            .map_err(|_| SealError::Length(text.len()))?;
        Ok(STANDARD.encode(sealed))
    }

    /// Opens a text that was sealed between these keys and another's (NIP-44).
    ///
    /// # Errors
    /// When the other key is none, or the text was not sealed between the two.
    pub fn open(&self, other: &Hex32, sealed: &str) -> Result<String, SealError> {
        let other = public(other)?;
        nip44::decrypt(&self.secret, &other, sealed)
            .map_err(|error| SealError::Sealed(error.to_string()))
    }

    fn remembered(&self, id: &Hex32) -> Option<[u8; 64]> {
        self.signed.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    fn shared_with(&self, other: &Hex32) -> Result<ConversationKey, SealError> {
        ConversationKey::derive(&self.secret, &public(other)?).map_err(|_| SealError::Key(*other))
    }

    fn from_name(name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"skep/key/");
        hash.update(name);
        let secret = SecretKey::from_slice(&hash.finalize());
        Self::new(secret.expect("all but one in 2^128 hashes are valid secrets"))
    }

    fn new(secret: SecretKey) -> Self {
        let pair = Keypair::from_secret_key(&CURVE, &secret);
        let pubkey = Hex32(pair.x_only_public_key().0.serialize());
        Self { pubkey, secret, pair, signed: Mutex::default() }
    }

    fn keep(keys: Self) -> &'static Self {
        write(|known| {
            let pubkey = keys.pubkey;
            *known.by_pubkey.entry(pubkey).or_insert_with(|| Box::leak(Box::new(keys)))
        })
    }
}

/// Whether this is the author's signature of that id. What a key here signed itself is known
/// again without any arithmetic: a simulated wire has our own keys on both ends.
pub fn verify(pubkey: &Hex32, id: &Hex32, signature: &[u8; 64]) -> bool {
    let ours = Keys::of(pubkey).and_then(|keys| keys.remembered(id));
    ours.as_ref() == Some(signature) || holds(pubkey, id, signature)
}

fn holds(pubkey: &Hex32, id: &Hex32, signature: &[u8; 64]) -> bool {
    let signature = schnorr::Signature::from_byte_array(*signature);
    XOnlyPublicKey::from_slice(&pubkey.0)
        .is_ok_and(|pubkey| CURVE.verify_schnorr(&signature, &id.0, &pubkey).is_ok())
}

fn public(key: &Hex32) -> Result<PublicKey, SealError> {
    PublicKey::from_slice(&key.0).map_err(|_| SealError::Key(*key))
}

// A thread that panicked while it held the lock left whole entries behind: the maps are only
// ever added to, one entry at a time.
fn read<T>(look: impl FnOnce(&Known) -> T) -> T {
    look(&KNOWN.read().unwrap_or_else(PoisonError::into_inner))
}

fn write<T>(change: impl FnOnce(&mut Known) -> T) -> T {
    change(&mut KNOWN.write().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_pair_on_every_machine() {
        let keys = Keys::named("owner");
        assert!(std::ptr::eq(keys, Keys::named("owner")));
        assert!(std::ptr::eq(keys, Keys::of(&keys.pubkey).unwrap()));
        assert_ne!(keys.pubkey, Keys::named("agent").pubkey);
        assert_eq!(
            keys.pubkey.to_string(),
            "fc43834bf6c495b4ce1f234ef4a108b93df3a4d3da9faacd47c0b8daa6f8bb3f",
        );
    }

    #[test]
    fn threads_agree_on_a_pair() {
        let ask = || Keys::named("asked by many").pubkey;
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(ask)).collect();
        let pubkeys: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(pubkeys.iter().all(|pubkey| *pubkey == ask()));
    }

    #[test]
    fn a_secret_leads_back_to_its_pair() {
        let keys = Keys::named("secretive");
        assert!(keys.nsec().starts_with("nsec1"));
        for secret in [keys.nsec(), keys.secret_hex()] {
            assert!(std::ptr::eq(keys, Keys::from_secret(&secret).unwrap()));
        }
        assert!(Keys::from_secret("nsec1nonsense").is_none());
        assert!(Keys::from_secret(&"0".repeat(64)).is_none());
    }

    #[test]
    fn a_signature_is_the_same_twice_and_nobody_elses() {
        let (keys, id) = (Keys::named("signer"), Hex32([7; 32]));
        let signature = keys.sign(&id);
        assert_eq!(signature, keys.sign(&id));
        assert!(verify(&keys.pubkey, &id, &signature) && holds(&keys.pubkey, &id, &signature));
        assert!(!verify(&keys.pubkey, &Hex32([8; 32]), &signature));
        assert!(!verify(&Keys::named("other").pubkey, &id, &signature));
        assert!(!verify(&keys.pubkey, &id, &[0; 64]));
        assert!(!verify(&Hex32([0xff; 32]), &id, &signature));
    }

    #[test]
    fn what_is_sealed_is_the_same_twice_and_both_sides_open_it() {
        let (owner, agent) = (Keys::named("owner"), Keys::named("agent"));
        let sealed = owner.seal(&agent.pubkey, "switch").unwrap();
        assert_eq!(sealed, owner.seal(&agent.pubkey, "switch").unwrap());
        assert_ne!(sealed, owner.seal(&agent.pubkey, "switched").unwrap());
        assert_eq!(agent.open(&owner.pubkey, &sealed).unwrap(), "switch");
        assert_eq!(owner.open(&agent.pubkey, &sealed).unwrap(), "switch");
    }

    #[test]
    fn a_stranger_opens_nothing() {
        let (owner, agent) = (Keys::named("owner"), Keys::named("agent"));
        let sealed = owner.seal(&agent.pubkey, "switch").unwrap();
        let opened = Keys::named("stranger").open(&owner.pubkey, &sealed);
        assert!(matches!(opened, Err(SealError::Sealed(_))));
        assert_eq!(owner.seal(&agent.pubkey, ""), Err(SealError::Length(0)));
        let nobody = Hex32([0xff; 32]);
        assert_eq!(owner.seal(&nobody, "x"), Err(SealError::Key(nobody)));
    }
}
