//! A file for each thing that a store model breaks: it fails on the model, and holds on the
//! reference.

use skep::explore_store::{file_of, play_of};
use skep::scenario::{SourceFile, parse_store_play};
use skep_store::model::StoreName;
use skep_store::play::{Act, End};

#[test]
fn every_listed_breakage_has_a_file_that_shows_it() {
    let mut missing = Vec::new();
    for store in StoreName::ALL {
        for broken in store.breaks() {
            let Some(file) = file_of(store, broken) else {
                missing.push(format!("{} {}: no file", store.id(), broken.check));
                continue;
            };
            let source = SourceFile::new(&file.name, &file.text);
            let play = parse_store_play(&source)
                .unwrap_or_else(|mistakes| panic!("{}: {mistakes:#?}\n{}", file.name, file.text));
            assert_eq!(play.store, store);
            let end = play_of(store, &play.play);
            println!("{}: {end:?}", file.name);
            if !matches!(end, End::Broken(..)) {
                missing.push(format!("{}: {end:?}\n{}", file.name, file.text));
            }
            let has_steps = play.play.lines.iter().any(|line| matches!(line.act, Act::Schedule(_)));
            let on_reference = play_of(StoreName::Reference, &play.play);
            // A schedule that was searched for has the steps of its own store.
            if on_reference != End::Held && !(has_steps && matches!(on_reference, End::Unfit(..))) {
                missing.push(format!("{} on the reference: {on_reference:?}", file.name));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
