//! How much of everything a relay takes; reaching a bound is said on the wire.

/// A relay's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at a time; one more is told so by a NOTICE and closed.
    pub connections: usize,
    /// Subscriptions of one connection; one more is CLOSED.
    pub subscriptions: usize,
    /// Filters of one request; a request with more is CLOSED, or answered 400.
    pub filters: usize,
    /// Events that are kept; one more is not taken.
    pub events: usize,
    /// Stored events that answer one request; the oldest beyond are left out.
    pub answers: usize,
    /// Deliveries that wait for their time; one more is not made to wait.
    pub waiting: usize,
    /// Frames that one connection's socket has not taken yet; a client that reads so slowly is
    /// cut off.
    pub outgoing: usize,
    /// Sockets at a time, WebSocket or HTTP; one more is dropped.
    pub sockets: usize,
    /// Bytes of one frame or one HTTP body. What is longer ends the connection.
    pub frame_bytes: usize,
}

impl Default for Bounds {
    /// Far more than a scenario needs, far less than would hurt. The longest frame is what public
    /// relays of this kind take.
    fn default() -> Self {
        Self {
            connections: 256,
            subscriptions: 1_024,
            filters: 64,
            events: 100_000,
            answers: 10_000,
            waiting: 100_000,
            // More than one request's stored events, which all come at once.
            outgoing: 20_000,
            sockets: 512,
            frame_bytes: 512 * 1024,
        }
    }
}
