//! The word that a misspelled one was probably meant to be.

/// The nearest of some words, if any is near enough that a reader would call it a slip.
pub(super) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long text is no misspelled word, and the distance costs the product of the lengths.
    if word.len() > 64 {
        return None;
    }
    let folded = word.to_lowercase().replace('_', "-");
    let scored = words.into_iter().map(|known| {
        let whole = known.to_lowercase().replace('_', "-");
        (strsim::damerau_levenshtein(&folded, &whole), known)
    });
    let (distance, known) = scored.min_by_key(|(distance, _)| *distance)?;
    let slips = word.chars().count().max(3) / 3;
    (distance <= slips).then_some(known)
}

/// What to write instead of an unknown word: the nearest, or all there are.
pub(super) fn instead<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if words.is_empty() => "remove it".to_owned(),
        None => format!("there is {}", listed(&words)),
    }
}

/// Words as a sentence lists them.
pub(super) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [rest @ .., last] => format!("`{}` and `{last}`", rest.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_different_word_is_not() {
        let words = ["mention", "say", "restart"];
        assert_eq!(nearest("metnion", words), Some("mention"));
        assert_eq!(nearest("re-start", words), Some("restart"));
        assert_eq!(nearest("expect", words), None);
        assert_eq!(nearest("kill_group", ["kill-group"]), Some("kill-group"));
    }

    #[test]
    fn without_a_near_word_all_are_listed() {
        assert_eq!(instead("x", ["ab", "cd", "ef"]), "there is `ab`, `cd` and `ef`");
    }
}
