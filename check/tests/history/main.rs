//! The judge of histories: against an oracle that tries everything, and on histories that are known
//! to be bad.

mod known;
mod oracle;
