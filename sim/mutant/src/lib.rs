//! Every named fault of our own reference harness, store and relay handling.
//!
//! A mutant is one small change of one decision. The parts ask [`Mutants::has`] at that decision;
//! `skep prove` runs every scenario against every mutant, and a mutant that no scenario notices is
//! a hole in the corpus. The list is data: adding one here and asking for it at one place is all.

use std::fmt;

/// Declares the mutants: `Variant "id" rule "what it changes"`.
macro_rules! mutants {
    ($($name:ident $id:literal $rule:literal $what:literal,)+) => {
        /// One named fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mutant {
            $(#[doc = $what] $name,)+
        }

        impl Mutant {
            /// All of them, in the order of the list.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The name that scenarios use in `kills`: `part/what-it-does-wrong`.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// The rule that it breaks first.
            pub fn rule(self) -> &'static str {
                match self { $(Self::$name => $rule,)+ }
            }

            /// What it changes, in one line.
            pub fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)+ }
            }
        }
    };
}

mutants! {
    // Resume.
    NeverLoads "harness/never-loads" "H-1" "ignores every receipt and opens a new session",
    NeverStores "harness/never-stores" "H-1" "never writes a receipt",
    LoadsTwice "harness/loads-twice" "H-1" "sends the load twice",
    PromptsBeforeLoad "harness/prompts-before-load" "H-1" "prompts before the load is answered",
    LoadsUnadvertised "harness/loads-unadvertised" "H-2" "loads although the agent does not offer it",
    LoadsOtherCwd "harness/loads-other-cwd" "H-3" "loads with another working directory",
    LoadsWithoutMcp "harness/loads-without-mcp" "H-3" "loads with an empty list of MCP servers",
    DefinitiveFailsTurn "harness/definitive-fails-turn" "H-5" "a refused load fails the turn",
    StoresBeforeNew "harness/keeps-dead-receipt" "H-5" "keeps the receipt after a definitive failure",
    TimeoutIsDefinitive "harness/timeout-is-definitive" "H-6" "a load that times out forgets the receipt",
    ExitIsDefinitive "harness/exit-is-definitive" "H-6" "an agent that dies in a load forgets the receipt",
    IndeterminateLosesMessage "harness/indeterminate-loses-message" "H-6" "an unanswered load drops its message",
    CompetingSession "harness/competing-session" "H-6" "opens a new session beside one whose load was not answered",
    NeverGivesUp "harness/never-gives-up" "H-6" "bounded(n) never reaches its bound",
    CountNeverResets "harness/count-never-resets" "H-6" "a success does not reset the count of failed loads",
    LateAnswerCounts "harness/late-answer-counts" "H-7" "a load answered after its deadline is taken as success",
    IgnoresModelOfReceipt "harness/ignores-model" "H-8" "loads a receipt that was made with another model",
    IgnoresModeOfReceipt "harness/ignores-mode" "H-8" "loads a receipt that was made with another permission mode",
    RecordsWantedModel "harness/records-wanted-model" "H-9" "records a model that the agent rejected",
    ResumesWhenOff "harness/resumes-when-off" "H-10" "reads receipts although resume is switched off",
    StoresHeartbeat "harness/stores-heartbeat" "H-11" "stores the heartbeat's session",
    NullLoadFails "harness/null-load-fails" "H-12" "takes a null result of a load for a failure",
    FollowsAnswerId "harness/follows-answer-id" "H-12" "moves to the id that the load's result names",
    PromptsUnloaded "harness/prompts-unloaded" "H-13" "prompts a remembered session on a new agent without loading it",
    TotalLoadTimeout "harness/total-load-timeout" "H-14" "counts the load's whole time, not its silence",
    NoLoadCap "harness/no-load-cap" "H-14" "lets a load that keeps talking go on for ever",
    // Lifecycle.
    RotateMemoryOnly "harness/rotate-memory-only" "H-20" "an idle rotate clears memory and not the disk",
    RotateDiskOnly "harness/rotate-disk-only" "H-20" "an idle rotate clears the disk and not memory",
    BusyRotateKeepsReceipt "harness/busy-rotate-keeps-receipt" "H-20" "a rotate in mid-turn leaves the receipt",
    RotateIgnored "harness/rotate-ignored" "H-20" "a rotate does nothing",
    MaxTokensKeeps "harness/max-tokens-keeps" "H-20" "max_tokens does not rotate the session",
    MaxTokensMemoryOnly "harness/max-tokens-memory-only" "H-20" "max_tokens rotates in memory only",
    MaxRequestsKeeps "harness/max-requests-keeps" "H-20" "max_turn_requests does not rotate the session",
    TurnLimitIgnored "harness/turn-limit-ignored" "H-20" "the turn-count limit does not rotate the session",
    TurnLimitMemoryOnly "harness/turn-limit-memory-only" "H-20" "the turn-count limit rotates in memory only",
    CancelKeepsSession "harness/cancel-keeps-session" "H-20" "a cancel leaves session and receipt",
    ModelSwitchIdleKeeps "harness/model-switch-idle-keeps" "H-20" "an idle model switch clears memory and not the disk",
    ModelSwitchBusyKeeps "harness/model-switch-busy-keeps" "H-20" "a model switch in mid-turn leaves the receipt",
    RemovalKeepsReceipt "harness/removal-keeps-receipt" "H-20" "leaving a channel keeps its receipt",
    BusyRotateStoredAgain "harness/busy-rotate-stored-again" "H-21" "the end of a rotated turn writes the receipt again",
    DeathForgets "harness/death-forgets" "H-22" "an agent's death removes the receipt",
    RotateClearsAll "harness/rotate-clears-all" "H-23" "a rotate removes every scope's receipt",
    // Origin.
    NoOriginMeta "harness/no-origin-meta" "H-30" "session/new carries no channel in _meta",
    NoOriginOnLoad "harness/no-origin-on-load" "H-31" "the origin variable is missing from a load",
    OriginInPrivate "harness/origin-in-private" "H-31" "the origin variable is set for private channels and DMs",
    // Replay.
    PublishesReplay "harness/publishes-replay" "H-40" "replayed history goes to the observer feed",
    ReplayAsOutput "harness/replay-as-output" "H-40" "replayed history is counted as the next turn's output",
    DropsRequestsInLoad "harness/drops-requests-in-load" "H-41" "an agent's request during a load is not answered",
    WindowStaysOpen "harness/window-stays-open" "H-42" "after a failed load output is still taken for replay",
    EatsEqualText "harness/eats-equal-text" "H-42" "live output that equals replayed text is dropped",
    NoQuietWait "harness/no-quiet-wait" "H-43" "prompts at once although history still trickles in",
    // Scope.
    ThreadPerChannel "harness/thread-per-channel" "H-50" "opens a session a thread under the channel policy",
    ChannelPerThread "harness/channel-per-thread" "H-51" "one session a channel under the thread policy",
    TopLevelShared "harness/top-level-shared" "H-51" "top-level mentions share one scope under the thread policy",
    DmThreads "harness/dm-threads" "H-52" "opens a session a thread in a DM",
    RootCaseMatters "harness/root-case-matters" "H-53" "two spellings of a root are two scopes",
    ReplyIsRoot "harness/reply-is-root" "H-54" "keys a nested reply by the message it answers",
    UnmarkedIsRoot "harness/unmarked-is-root" "H-54" "takes an unmarked e tag for the root",
    // Overlap.
    KeyOnlyRemove "harness/key-only-remove" "H-71" "a failed load removes the receipt whatever it says now",
    // Delivery.
    DropsWhenBusy "harness/drops-when-busy" "H-80" "a message that comes during a turn is dropped",
    DropsOnError "harness/drops-on-error" "H-80" "a failed prompt's message is not tried again",
    DropsOnDeath "harness/drops-on-death" "H-80" "an agent's death drops the message of its turn",
    NoDedup "harness/no-dedup" "H-81" "a message delivered twice is prompted twice",
    NoResubscribe "harness/no-resubscribe" "H-82" "subscribes to nothing after a reconnect",
    NoGapFetch "harness/no-gap-fetch" "H-82" "asks only for new events after a reconnect",
    ConcurrentTurns "harness/concurrent-turns" "H-83" "starts a second turn on a scope whose turn still runs",
    StoreFailureFailsTurn "harness/store-failure-fails-turn" "H-92" "a store that cannot be written fails the turn",
    // Store.
    ForgetsOnRestart "store/forgets-on-restart" "S-1" "a put is acknowledged and never written",
    RemoveKeepsDisk "store/remove-keeps-disk" "S-2" "a remove is acknowledged and never written",
    RemoveIfIgnoresId "store/remove-if-ignores-id" "S-3" "remove_if removes whatever is stored",
    IgnoresScope "store/ignores-scope" "S-4" "reads a file that belongs to another relay or agent",
    IgnoresConfig "store/ignores-config" "S-5" "returns a receipt of another model or mode",
    RewritesOnOpen "store/rewrites-on-open" "S-6" "opening writes the file again, with new times of use",
    CaseSplitsKeys "store/case-splits-keys" "S-7" "two spellings of a key are two entries",
    TrustsClock "store/trusts-clock" "S-8" "a clock that jumps forwards forgets everything",
    NoRereadUnderLock "store/no-reread-under-lock" "S-10" "writes from memory without reading again under the lock",
    NoLock "store/no-lock" "S-10" "takes no lock",
    OlderWins "store/older-wins" "S-11" "keeps the earlier of two puts to one key",
    WaitsForever "store/waits-forever" "S-12" "waits for a stuck lock without a bound",
    WritesInPlace "store/writes-in-place" "S-13" "writes the file in place",
    NoFileSync "store/no-file-sync" "S-20" "renames without syncing the file",
    NoDirSync "store/no-dir-sync" "S-21" "does not sync the directory after the rename",
    LeavesTemps "store/leaves-temps" "S-22" "never cleans leftover temporary files up",
    FixedTempName "store/fixed-temp-name" "S-23" "uses one fixed temporary name, opened without exclusivity",
    CorruptPanics "store/corrupt-fails-open" "S-30" "a damaged file makes every operation fail",
    UnboundedRead "store/unbounded-read" "S-30" "reads a file of any size",
    NoSetAside "store/no-set-aside" "S-31" "overwrites a damaged file without keeping it",
    AllOrNothing "store/all-or-nothing" "S-31" "one bad entry loses the good ones",
    OverwritesNewer "store/overwrites-newer" "S-32" "overwrites the file of a newer version",
    SwallowsWriteErrors "store/swallows-write-errors" "S-33" "reports success when nothing could be written",
    UmaskMode "store/umask-mode" "S-40" "leaves the file's mode to the umask",
    FollowsSymlink "store/follows-symlink" "S-41" "replaces or follows a symbolic link",
    OpensSpecial "store/opens-special" "S-42" "opens whatever stands at the path, and waits on it",
    // The simulator: the canary of its promise.
    HashOrder "world/hash-order" "W-1" "tells of the cast in the order of a randomly hashed map",
}

impl Mutant {
    /// The mutant with this id.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|mutant| mutant.id() == id)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The fault that is switched on, if any. One at a time: what two faults do together proves
/// nothing about either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mutants(Option<Mutant>);

impl Mutants {
    /// No fault: the reference.
    pub const NONE: Self = Self(None);

    /// Exactly this fault.
    pub fn only(mutant: Mutant) -> Self {
        Self(Some(mutant))
    }

    /// Asked at the decision that the mutant changes.
    pub fn has(self, mutant: Mutant) -> bool {
        self.0 == Some(mutant)
    }

    /// The fault that is switched on.
    pub fn get(self) -> Option<Mutant> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_read_back() {
        for mutant in Mutant::ALL {
            assert_eq!(Mutant::parse(mutant.id()), Some(*mutant));
        }
    }
}
