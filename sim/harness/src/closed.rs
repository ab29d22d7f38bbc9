//! A subscription that the relay closes: how often it did, and when it is opened again.

/// The longest wait before a subscription that keeps being closed is opened again.
const CAP_MS: u64 = 60_000;

/// How often a subscription was closed since something new last came through it.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    times: u32,
    waits: bool,
}

impl Closed {
    /// It was closed once more.
    pub(crate) fn again(&mut self) {
        self.times += 1;
        self.waits = true;
    }

    /// How long the next attempt waits; `None` where it is made at once.
    pub(crate) fn wait_ms(&self) -> Option<u64> {
        (self.times > 1).then(|| (1_000 << (self.times - 2).min(8)).min(CAP_MS))
    }

    /// It is opened again; says whether it had been closed.
    pub(crate) fn reopened(&mut self) -> bool {
        std::mem::take(&mut self.waits)
    }

    /// Something new came through it: it works.
    pub(crate) fn works(&mut self) {
        self.times = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_opened_at_once_and_then_ever_later() {
        let mut closed = Closed::default();
        let mut wait = || {
            closed.again();
            closed.wait_ms()
        };
        let waits: [_; 9] = std::array::from_fn(|_| wait());
        let seconds = [1, 2, 4, 8, 16, 32, 60, 60].map(|seconds| Some(seconds * 1_000));
        assert_eq!((waits[0], &waits[1..]), (None, &seconds[..]));
        closed.works();
        closed.again();
        assert_eq!(closed.wait_ms(), None);
    }
}
