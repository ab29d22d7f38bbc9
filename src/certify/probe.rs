//! Probes: the single questions that a certificate asks of an agent, as data.

/// Declares the probes with their words.
macro_rules! probes {
    ($($variant:ident $word:literal: $what:literal;)*) => {
        /// One question; its name stands in the trace beside the request that asks it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Probe {
            $(#[doc = $what] $variant,)*
        }

        impl Probe {
            /// All of them, in the order in which they are asked.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in a trace.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What is done, in one clause.
            pub fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)* }
            }
        }
    };
}

probes! {
    Initialize "initialize": "the handshake, with version 1 and no capabilities";
    Authenticate "authenticate": "the login that the profile names";
    NewMain "new-main": "a session in another directory than the agent was started in";
    NewSecond "new-second": "a second session, in a directory below the first one's";
    NewEmpty "new-empty": "a session that is never prompted";
    NewDirectories "new-directories": "a session with an additional directory";
    Turn "turn": "turns with a word to remember, odd letters, a tool, a link and a picture, a plan";
    TurnSecond "turn-second": "a turn in the second session";
    TurnDirectories "turn-directories": "a turn in the session with an additional directory";
    LoadSame "load-same": "a load in the process that made the session";
    LoadTwice "load-twice": "the same load again, at once";
    TurnBeforeLoad "turn-before-load": "turns of the second session that a load follows at once";
    LoadAtOnce "load-at-once": "each of those loads, sent with the turn's answer";
    TurnBeside "turn-beside": "a turn in the second session after a load of the first";
    TurnMeta "turn-meta": "a prompt with `_meta`";
    PairMain "pair-main": "a load with another one in flight";
    PairSecond "pair-second": "the other one";
    LoadNoise "load-noise": "a load with an unknown notification before it and one after it";
    LoadMeta "load-meta": "a load with `_meta`";
    LoadNegative "load-negative": "a load whose request has a negative id";
    LoadText "load-text": "a load whose request has a text for its id";
    LoadUnknown "load-unknown": "a load of an id that the agent never gave, shaped like its own";
    LoadAfterBad "load-after-bad": "a good load right after one that failed";
    LoadEmptyId "load-empty-id": "a load of the empty id";
    LoadUpper "load-upper": "a load of a known id in another case";
    LoadPath "load-path": "a load of a known id with a path before it";
    LoadHuge "load-huge": "a load of an id of 100 kB";
    LoadControl "load-control": "a load of a known id with control characters after it";
    BadParams "bad-params": "loads without an id, with a number for a directory, without servers";
    Extension "extension": "a request for an extension method that nobody has";
    OddId "odd-id": "the same request under an id below zero, and under a text";
    UnknownMethod "unknown-method": "a request for a method that nobody has";
    Notices "notices": "notifications: a cancel of an idle session, and an unknown one";
    BadLine "bad-line": "a line that is no message";
    List "list": "the list of all sessions";
    ListPage "list-page": "its further pages";
    ListUnused "list-unused": "the list of a directory without sessions";
    ListCwd "list-cwd": "the list of the first session's directory";
    BadCursor "bad-cursor": "a list with a cursor that was never given out";
    LoadListed "load-listed": "a load of each listed session";
    ListAgain "list-again": "the list of the first session's directory again";
    SetOption "set-option": "another value for an option of a loaded session";
    SetMode "set-mode": "another mode for a loaded session";
    Resume "resume": "a resume without servers";
    ResumeUnknown "resume-unknown": "a resume of the id that nobody has";
    NewSlow "new-slow": "a session for turns that are cancelled";
    SlowTurn "slow-turn": "a slow turn, cancelled in mid-stream";
    LoadCancelled "load-cancelled": "a load of the session with the cancelled turn";
    BusyTurn "busy-turn": "a slow turn during which its session is loaded";
    LoadBusy "load-busy": "that load";
    EagerLoad "eager-load": "a load with a prompt right behind it";
    EagerTurn "eager-turn": "that prompt";
    CancelledLoad "cancelled-load": "a load that is cancelled at once";
    AskTurn "ask-turn": "a turn whose tool asks for permission and is refused";
    Notes "notes": "a look at what the tool wrote";
    RelativeDirectory "relative-directory": "a load with an additional directory that is no absolute path";
    EmptyDirectory "empty-directory": "a load with an empty additional directory";
    RelativeCwd "relative-cwd": "a load with a relative directory";
    NewClosing "new-closing": "a session to be closed";
    ClosingTurn "closing-turn": "a slow turn in it";
    Close "close": "a close in the middle of that turn";
    LoadClosed "load-closed": "a load of the closed session";
    NewDoomed "new-doomed": "a session to be deleted by a later process";
    DoomedTurn "doomed-turn": "a turn in it";
    Fork "fork": "a fork of the second session";
    LoadSource "load-source": "a load of the second session after the fork";
    LoadFresh "load-fresh": "a load in a new process, the old one ended by the end of its input";
    ListLoaded "list-loaded": "the list after that load";
    NewAgain "new-again": "a session in the new process";
    TurnAgain "turn-again": "a turn in it";
    Recall "recall": "a prompt for the word that was to be remembered";
    LoadEmpty "load-empty": "a load, in a new process, of the session that was never prompted";
    LoadDirectories "load-directories": "a load without the additional directory of the session";
    ListDirectories "list-directories": "the list after that load";
    LoadSecond "load-second": "a load of the second session in the new process";
    CancelLoaded "cancel-loaded": "a slow turn in it, cancelled in mid-stream";
    Delete "delete": "the deletion of a session that an earlier process made";
    ListDeleted "list-deleted": "the list after the deletion";
    DeleteAgain "delete-again": "its deletion again";
    DeleteUnknown "delete-unknown": "deletions of ids that nobody gave, one of them of another shape";
    LoadDeleted "load-deleted": "a load of the deleted session";
    NewKilled "new-killed": "a session whose process is killed";
    KilledTurn "killed-turn": "a turn in it, its process killed as soon as it is answered";
    KillAtOnce "kill-at-once": "the kill";
    LoadKilled "load-killed": "a load of that session in a new process";
    LoadMore "load-more": "a load of the first session, with the turns that came after its first load";
    ResumeFresh "resume-fresh": "a resume of the second session in a new process";
    RecallResumed "recall-resumed": "a prompt for the word that was to be remembered in it";
    MidTurn "mid-turn": "a slow turn, its process killed in mid-stream";
    KillProcess "kill-process": "the kill, of the process alone";
    LoadAfterKill "load-after-kill": "a load of that session in a new process";
    LoadOtherClient "load-other-client": "a load by a client of another name";
    LoadServers "load-servers": "a first load in a new process, with a server to start";
    ServersTurn "servers-turn": "a prompt after it";
    GroupTurn "group-turn": "a slow turn, its process killed in mid-stream with all that it started";
    KillGroup "kill-group": "the kill, of the whole group";
    LoadAfterGroupKill "load-after-group-kill": "a load of that session in a new process";
    LoadWithout "load-without": "a first load of that session in the next process, without servers";
    LoadDead "load-dead": "a load with a server that cannot be started";
    LoadBeside "load-beside": "a load by a second process while the first has the session loaded";
    OtherCwd "other-cwd": "a load with another directory than the session's";
    LoadAtEnd "load-at-end": "a load with the end of the input right behind it";
    EarlyLoad "early-load": "a load before the handshake";
    OddVersion "odd-version": "a handshake with version 65535";
    NewTrouble "new-trouble": "a session whose model has trouble";
    RefusedTurn "refused-turn": "a turn whose model refuses twice, with 429";
    FailingTurn "failing-turn": "a turn whose model fails twice, with 500";
    SilentTurn "silent-turn": "a turn whose model says nothing, cancelled";
    TurnAfterTrouble "turn-after-trouble": "a turn after all that";
    NewHasty "new-hasty": "a session for turns that are cancelled at bad moments";
    DenseTurn "dense-turn": "turns that stream without a pause, cancelled in mid-stream";
    EarlyCancel "early-cancel": "turns that are cancelled right behind their prompt";
    ZeroVersion "zero-version": "a handshake with version 0";
    LoadTrouble "load-trouble": "a load of the session with the trouble, in a new process";
    NewBulk "new-bulk": "a session for much";
    BigTurn "big-turn": "a turn of 1 MiB, or of less where it must be quick";
    ManyTurn "many-turn": "as many turns as fit the budget";
    LoadBulk "load-bulk": "a load of that session in a new process, by a client that reads slowly";
    Exit "exit": "the end of the input";
}
