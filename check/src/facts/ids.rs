//! Places in the tables of facts, one type a table so that they cannot be mixed up.

/// Declares a place in a table.
macro_rules! places {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) usize);)+
    };
}

places! {
    /// A life of a harness.
    LifeId,
    /// A process of an agent.
    ProcessId,
    /// A session, by its id on the wire.
    SessionId,
    /// A prompt that was sent.
    PromptId,
    /// A message to a channel.
    MessageId,
    /// A state directory together with the relay and identity that use it.
    HomeId,
}
