//! The broken agents: one defect each, as data.
//!
//! A defect is one decision that the well-behaved agent takes otherwise. Each breaks one row of a
//! certificate's requirements; the rows that cannot hold once it is broken are listed beside it.

/// Declares the enum and everything that its table says.
macro_rules! defects {
    ($($variant:ident $row:literal $follows:tt $name:literal: $what:literal;)*) => {
        /// One thing that a broken agent does wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Defect {
            $(#[doc = $what] $variant,)*
        }

        impl Defect {
            /// Every defect, by the row that it breaks.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The row that it breaks: a number of the certificate's requirements.
            pub fn row(self) -> u8 {
                match self { $(Self::$variant => $row,)* }
            }

            /// The rows that cannot hold either while it is there.
            pub fn follows(self) -> &'static [u8] {
                match self { $(Self::$variant => &$follows,)* }
            }

            /// What the agent does, in one clause.
            pub fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)* }
            }

            /// Reads a name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|defect| defect.name() == name)
            }
        }
    };
}

defects! {
    PrintsLog 1 [] "prints-its-log": "prints a line of its log on standard output when it loads";
    FlattensLines 2 [36, 37] "flattens-lines": "replays line breaks as spaces";
    WritesLatin1 3 [2, 36, 37] "writes-latin-1": "replays letters beyond ASCII in a one-byte encoding";
    DropsIdSign 5 [] "drops-a-sign": "answers a negative id with a positive one";
    ResultAndError 6 [] "result-and-error": "puts a result beside an error";
    AnswersWithoutId 6 [] "answers-without-id": "answers a line that is no message without an id";
    AnswersNotifications 7 [] "answers-notifications": "answers a notification";
    ForgetsVersion 8 [] "forgets-the-version": "leaves `jsonrpc` out of an update";
    WrongUnknownCode 9 [] "wrong-unknown-code": "answers an unknown method with an internal error";
    IgnoresExtensions 10 [] "ignores-extensions": "does not answer a request for an extension method";
    UpsetByNotices 11 [] "upset-by-notices": "replays nothing after a notification that it does not know";
    OwnRootField 12 [] "own-root-field": "adds a field of its own to an update";
    OwnResultField 12 [] "own-result-field": "adds a field of its own to the result of a prompt";
    StrayMethod 12 [] "stray-method": "sends a notification of its own whose name has no `_` before it";
    SnakeKeys 13 [] "snake-keys": "spells the id of a message in snake case";
    LongComplaints 14 [] "long-complaints": "puts several lines into an error's message";
    DeafAfterError 15 [] "deaf-after-an-error": "refuses the load after one that failed";
    Sulks 15 [] "sulks": "takes no prompt in a session after one whose model failed";
    OutlivesEof 16 [] "outlives-eof": "lives on when its input has ended";
    OddCapabilities 17 [] "odd-capabilities": "says its prompt capabilities with a word";
    OtherVersion 18 [] "other-version": "answers another version than the one that it was asked for";
    EchoesVersion 19 [] "echoes-the-version": "accepts a version that nobody has";
    Nameless 20 [] "nameless": "does not say who it is";
    LoadsInWords 21 [] "loads-in-words": "advertises `loadSession` with a word";
    MarksWithTrue 22 [] "marks-with-true": "advertises `list` with `true`";
    OffersNothing 23 [] "offers-without-having": "advertises `resume` and has no such method";
    AsksUninvited 24 [] "asks-uninvited": "reads the client's files when a session begins, though the client offers none";
    NeedsFiles 25 [110, 113] "needs-files": "prompts only for clients that serve files";
    TerminalLogin 26 [] "terminal-login": "offers a login in a terminal to a client that has none";
    ChangesItsMind 27 [] "changes-its-mind": "advertises less from its second process on";
    ReusesIds 28 [] "reuses-ids": "gives a second process's session the id of an earlier one";
    WantsServers 29 [25] "wants-servers": "refuses a session without a server";
    StaysAtHome 30 [] "stays-at-home": "lists a new session under the directory that it was started in";
    PrefixesIds 31 [33, 34, 73, 90, 109, 123] "prefixes-ids": "knows its sessions by another id than it gave";
    WantsLogin 32 [] "wants-a-login": "asks for a login and offers none";
    LosesLive 33 [] "loses-the-living": "cannot load a session of its own process";
    MemoryOnly 34 [73, 123] "memory-only": "forgets its sessions when it ends";
    LosesCut 34 [123] "loses-what-was-cut": "cannot load a session whose process was killed in mid-turn";
    OneClient 35 [34, 123] "one-client": "loads for the client that made the session alone";
    DropsLastUser 36 [34, 37, 38, 44, 48, 50, 73, 109] "drops-the-last-user": "does not replay the last message of the user";
    DropsAgentText 37 [34, 38, 73, 109] "drops-its-last-word": "does not replay what it said last";
    WritesBehind 37 [36] "writes-behind": "does not replay a turn that was answered just before";
    AgentFirst 38 [] "agent-first": "replays each answer before its question";
    ReplaysLate 39 [37, 71, 73] "replays-late": "answers a load before its last update";
    AnswersTwice 40 [72] "answers-twice": "answers a load twice";
    DoublesLater 41 [109] "doubles-later": "replays everything twice from the second load on";
    KeepsRetries 41 [] "keeps-retries": "keeps a prompt again when it is tried again";
    OtherCase 42 [37, 73] "other-case": "replays under its session's id in upper case";
    InventsKinds 43 [] "invents-kinds": "replays an update of a kind of its own";
    SwapsRoles 44 [34, 36, 37, 38, 50, 73, 109] "swaps-roles": "replays a message of the user as one of its own";
    NullResult 45 [] "null-result": "answers a load with null";
    OldResult 46 [] "old-result": "puts the session's id into a load's result";
    Amnesia 47 [] "amnesia": "replays the conversation and has forgotten it";
    ReadOnly 48 [34, 36, 37, 109] "read-only": "does not keep the turns that come after a load";
    CannotCancel 49 [] "cannot-cancel": "answers a cancelled prompt of a loaded session as if it had come to its end";
    BreaksOnCancel 50 [34, 98, 123] "breaks-on-cancel": "cannot load a session with a cancelled turn";
    HidesTools 51 [] "hides-tools": "does not replay its tool calls";
    UntitledTools 52 [] "untitled-tools": "replays tool calls without their titles";
    StrayToolUpdate 53 [] "stray-tool-update": "replays an update of a call that nobody announced";
    PendingTools 54 [] "pending-tools": "replays finished calls as pending";
    HalfPlan 55 [] "half-plan": "replays a plan without its entries' priorities";
    OneMessageId 57 [] "one-message-id": "gives every message the same id";
    AsksOnLoad 59 [] "asks-on-load": "asks for a permission while it loads";
    AddsOnLoad 60 [37, 41, 44] "adds-on-load": "adds a remark of its own to the history with each load";
    LoadsAtHome 61 [30] "loads-at-home": "moves a loaded session to the directory that it was started in";
    SkipsServers 62 [] "skips-servers": "does not start the servers of a load";
    RemembersServers 63 [] "remembers-servers": "starts the servers of an earlier load again";
    HangsOnDeadServer 64 [] "hangs-on-a-dead-server": "never answers a load whose server cannot be started";
    UpsertsUnknown 65 [92] "upserts-unknown": "answers the load of an unknown session with a success";
    ListsFailed 66 [98] "lists-failed-loads": "lists the id of a load that failed";
    WrongParamsCode 67 [107] "wrong-params-code": "answers parameters that do not fit with an internal error";
    FoldsCase 68 [] "folds-case": "takes an id in another case for its own";
    NeedsAPrompt 69 [] "needs-a-prompt": "cannot load a session that was never prompted";
    Leaks 70 [37, 39, 71] "leaks": "says something in another session when one is loaded";
    MixesLoads 71 [] "mixes-loads": "replays one session's history under the id of another that is loaded beside it";
    AnswersCancelled 72 [] "answers-cancelled": "answers a request again when it is cancelled too late";
    Truncates 73 [] "truncates": "replays only the first part of a long text";
    ReadsMeta 74 [] "reads-meta": "refuses a load with `_meta`";
    SilentUsage 75 [] "silent-usage": "tells its usage in a turn and not after a load";
    ReplaysNotices 77 [] "replays-notices": "replays a notice that was for the moment alone";
    DropsBlocks 78 [] "drops-blocks": "does not replay what is no text";
    UnknownMode 79 [83] "unknown-mode": "is in a mode that it does not offer";
    UnknownOption 80 [] "unknown-option": "has an option whose value is none of its choices";
    TwoModes 81 [] "two-modes": "says one mode as a mode and another as an option";
    HalfOptions 82 [] "half-options": "answers a changed option with that option alone";
    OldOption 82 [] "old-option": "answers a changed option with its old value";
    ForgetsMode 83 [] "forgets-the-mode": "loads a session in its first mode";
    ReadsOnLoad 84 [24, 59] "reads-on-load": "reads a file of the client while it loads";
    TerminalOnLoad 85 [24, 59] "terminal-on-load": "opens a terminal at the client while it loads";
    ShowsTerminal 85 [] "shows-a-terminal": "replays a tool call with a terminal that the client never made";
    AsksOnForm 86 [24, 59] "form-on-load": "shows the client a form while it loads";
    BooleanOption 87 [] "boolean-option": "has an option that is on or off";
    Compacts 88 [] "compacts": "replays a compaction that the client cannot show";
    ResumesAloud 89 [] "resumes-aloud": "replays the history on resume";
    ResumeNeedsServers 90 [] "resume-needs-servers": "refuses a resume without a list of servers";
    ResumesEmpty 91 [] "resumes-empty": "has forgotten the conversation after a resume";
    ResumesAnything 92 [] "resumes-anything": "resumes a session that it cannot load";
    ListsHalf 93 [] "lists-half": "lists sessions without their directory";
    ListRefuses 94 [] "list-refuses": "answers a list without matches with an error";
    ListIgnoresCwd 95 [] "list-ignores-cwd": "lists sessions of directories below the one that was asked for";
    AnyCursor 96 [] "any-cursor": "takes any cursor for the beginning";
    EndlessList 97 [] "endless-list": "gives the same cursor with every page";
    ListsGhosts 98 [] "lists-ghosts": "lists a session that it cannot load";
    OddDates 99 [] "odd-dates": "tells the time of a session in seconds";
    ListTouches 100 [] "list-touches": "takes a list for a use of every session";
    CloseWaits 101 [] "close-waits": "closes a session and says that its prompt had come to its end";
    DeleteKeeps 104 [] "delete-keeps": "lists a session that was deleted";
    DeleteOnce 105 [] "delete-once": "answers the second delete with an error";
    TakesAnyDirectory 107 [] "takes-any-directory": "accepts additional directories that are no absolute paths";
    KeepsDirectories 108 [] "keeps-directories": "has a session's additional directories after a load without them";
    ForkIsSelf 109 [] "fork-is-self": "gives the fork the id of its source";
    OddStop 110 [] "odd-stop": "stops a turn for a reason of its own";
    MuteOnFailure 110 [] "mute-on-failure": "never answers a prompt whose model failed";
    CancelIsError 111 [49, 101] "cancel-is-an-error": "answers a cancelled prompt with an error";
    LosesEarlyCancel 111 [] "loses-early-cancels": "does not notice a cancel right behind a prompt";
    SilenceIsError 111 [] "silence-is-an-error": "answers a prompt that is cancelled before its model speaks with an error";
    DenseLeftovers 112 [] "dense-leftovers": "goes on with a dense stream after the answer to its cancelled prompt";
    TalksAfterCancel 112 [] "talks-after-cancel": "goes on with a message after the answer to a cancelled prompt";
    RefusesLinks 113 [] "refuses-links": "refuses a prompt with a link to a resource";
    ActsAnyway 114 [] "acts-anyway": "does what it was refused";
    HangsOnBusyLoad 116 [] "hangs-on-a-busy-load": "never answers the load of a session whose prompt runs";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rows_are_in_order() {
        for pair in Defect::ALL.windows(2) {
            assert!(pair[0].row() <= pair[1].row(), "{pair:?}");
        }
        let mut names: Vec<_> = Defect::ALL.iter().map(|defect| defect.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Defect::ALL.len());
        assert!(names.iter().all(|name| Defect::parse(name).is_some()));
    }
}
