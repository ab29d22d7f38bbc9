//! What a person reads after a run.

mod report_fixture;

use report_fixture as sample;
use skep::report::Paint;
use skep::report::story::story;
use skep::report::terminal::{Brevity, run};

#[test]
fn a_story_shows_the_line_its_causes_and_the_wire() {
    insta::assert_snapshot!(story(&sample::forked(), Paint::PLAIN));
}

#[test]
fn a_story_about_a_receipt_shows_what_the_store_lost() {
    insta::assert_snapshot!(story(&sample::forgotten(), Paint::PLAIN));
}

#[test]
fn a_rule_that_no_line_asks_for_is_shown_at_the_act_that_broke_it() {
    insta::assert_snapshot!(story(&sample::readable_by_all(), Paint::PLAIN));
}

#[test]
fn a_test_that_could_not_be_seen_tells_what_it_waited_for() {
    insta::assert_snapshot!(story(&sample::unseen(), Paint::PLAIN));
}

#[test]
fn a_run_lists_its_tests_tells_its_stories_and_sums_up() {
    let timeless = Brevity { timeless: true, ..Brevity::default() };
    insta::assert_snapshot!(run(&sample::run(), timeless, Paint::PLAIN));
}
