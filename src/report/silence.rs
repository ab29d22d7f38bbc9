//! Where a verdict rests on a silence: the weakest ground there is, and said so.

use super::instant;
use crate::outcome::TestOutcome;

/// `2.000s of silence in step 1`; nothing where events told.
pub fn note(test: &TestOutcome) -> Option<String> {
    let longest = test.silences.iter().map(|silence| silence.ms).max()?;
    let steps: Vec<_> =
        test.silences.iter().map(|silence| (silence.step + 1).to_string()).collect();
    let steps = match &steps[..] {
        [only] => format!("step {only}"),
        [rest @ .., last] => format!("steps {} and {last}", rest.join(", ")),
        [] => return None,
    };
    Some(format!("{} of silence in {steps}", instant::show(longest)))
}
