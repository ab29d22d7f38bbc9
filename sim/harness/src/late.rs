//! A load whose deadline passed. The reference never listens to it again (H-7); this keeps what
//! the fault needs that does.

use skep_trace::Text;

use crate::scope::Scope;

/// The load whose answer came too late, or may still come.
#[derive(Debug, Default)]
pub(crate) struct Late {
    awaited: Option<(i64, Scope, Text)>,
}

impl Late {
    /// The fault goes on waiting for this answer.
    pub(crate) fn wait(&mut self, request: i64, scope: Scope, session: Text) {
        self.awaited = Some((request, scope, session));
    }

    /// The answer to this request is the one; whose session it is.
    pub(crate) fn take(&mut self, request: i64) -> Option<(Scope, Text)> {
        let (_, scope, session) = self.awaited.take_if(|(awaited, ..)| *awaited == request)?;
        Some((scope, session))
    }
}
