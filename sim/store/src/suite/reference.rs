//! The reference store as a subject, with or without a fault.

use skep_mutant::Mutants;
use skep_trace::{Receipt, Text};

use super::host::Scope;
use super::local::{Handle, Subject};
use crate::ops::{StoreAnswer, StoreOp};
use crate::store::{LIFE_MS, Store, StoreConfig, bulk_file};
use crate::volume::Volume;

/// The reference store.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference {
    /// The fault that is switched on, if any.
    pub mutants: Mutants,
}

impl Subject for Reference {
    type Store<V: Volume + 'static> = Store<V>;

    async fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        now_ms: u64,
    ) -> (Store<V>, Vec<Text>) {
        let config = StoreConfig::new(dir, &scope.relay, scope.pubkey).with_mutants(self.mutants);
        let (store, warnings) = Store::open(volume, config, now_ms).await;
        (store, warnings.iter().map(|warning| warning.to_string().into()).collect())
    }

    fn life_ms(&self) -> Option<u64> {
        Some(LIFE_MS)
    }

    fn bulk(&self, scope: &Scope, receipts: usize) -> Option<(String, Vec<u8>)> {
        Some(bulk_file(&scope.relay, scope.pubkey, receipts))
    }
}

impl<V: Volume> Handle for Store<V> {
    async fn apply(&self, op: StoreOp, now_ms: u64) -> StoreAnswer {
        Store::apply(self, op, now_ms).await
    }

    async fn list(&self, now_ms: u64) -> Result<Vec<Receipt>, Text> {
        Store::list(self, now_ms).await.map_err(|error| error.to_string().into())
    }

    fn warnings(&self) -> Vec<Text> {
        let warnings = self.take_warnings();
        warnings.iter().map(|warning| warning.to_string().into()).collect()
    }
}
