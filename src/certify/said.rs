//! What a judge says of one requirement.

/// What a judge says, before the requirement's level is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is broken: how, and the record that shows it.
    Broken(String, Option<usize>),
    /// It is worth a remark, and no more than that whatever the level.
    Remark(String, Option<usize>),
    /// It cannot apply here: why.
    Apart(String),
    /// It could not be observed: why.
    Unknown(String),
}

/// Held with a note on what was seen, or something else.
pub(super) type Judged = Result<String, Said>;

/// It is broken at a record.
pub(super) fn broken<T>(why: impl Into<String>, record: usize) -> Result<T, Said> {
    Err(Said::Broken(why.into(), Some(record)))
}

/// It is worth a remark.
pub(super) fn remark<T>(why: impl Into<String>, record: usize) -> Result<T, Said> {
    Err(Said::Remark(why.into(), Some(record)))
}

/// It could not be observed.
pub(super) fn unknown<T>(why: impl Into<String>) -> Result<T, Said> {
    Err(Said::Unknown(why.into()))
}

/// It does not apply.
pub(super) fn apart<T>(why: impl Into<String>) -> Result<T, Said> {
    Err(Said::Apart(why.into()))
}

/// A count and a noun: `3 turns`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
