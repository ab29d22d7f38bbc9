//! Names by pattern, and the name that a misspelled one was probably meant to be.

/// A name fits a pattern: `*` stands for any run of letters, `?` for one. Brackets stand for
/// themselves, because the names of matrix cells have them.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[seen] => {
                at += 1;
                seen += 1;
            }
            // The last star takes one letter more, and the rest is tried again.
            _ => match &mut star {
                Some((star_at, star_seen)) => {
                    *star_seen += 1;
                    (at, seen) = (*star_at + 1, *star_seen);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// A test fits a pattern by its whole name, or by its scenario's: all cells of a matrix.
pub fn test_fits(patterns: &[String], test: &str) -> bool {
    let scenario = test.split('[').next().unwrap_or(test);
    let fits_one = |pattern: &String| fits(pattern, test) || fits(pattern, scenario);
    patterns.is_empty() || patterns.iter().any(fits_one)
}

/// The nearest of some names, if it is near enough for a slip of the hand.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.into_iter().map(|name| (strsim::damerau_levenshtein(word, name), name));
    let (distance, name) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= (word.chars().count() / 3).max(1)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_letters_and_brackets_for_themselves() {
        for (pattern, name) in [
            ("*", ""),
            ("rotation*", "rotation[kind=idle]"),
            ("*[kind=idle]", "rotation[kind=idle]"),
            ("a*b*c", "axxbyyc"),
            ("a?c", "abc"),
            ("*ab", "aab"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("a", ""), ("[ab]", "a"), ("a?c", "ac"), ("a*b", "abc")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_without_end_takes_no_time_without_end() {
        assert!(!fits(&"*a".repeat(200), &"a".repeat(199)));
    }

    #[test]
    fn the_name_of_a_scenario_means_all_its_cells() {
        assert!(test_fits(&["rotation".to_owned()], "rotation[kind=idle]"));
        assert!(!test_fits(&["rotation".to_owned()], "rotations"));
        assert!(test_fits(&[], "anything"));
    }

    #[test]
    fn a_slip_finds_its_word() {
        let names = ["restart-resumes-the-session", "rotation"];
        assert_eq!(nearest("restart-resume-the-session", names), Some(names[0]));
        assert_eq!(nearest("something-else", names), None);
    }
}
