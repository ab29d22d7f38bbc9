//! The scenarios that come with skep.

use std::sync::Arc;

use crate::scenario::SourceFile;

/// Every file of the corpus: its path in the repository, and its text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/corpus.rs"));

/// The files, in the order of their names.
pub fn files() -> Vec<Arc<SourceFile>> {
    FILES.iter().map(|(name, text)| SourceFile::new(name, text)).collect()
}

/// The file that another one of the corpus names, relative to itself.
pub fn beside(file: &str, named: &str) -> Option<Arc<SourceFile>> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let wanted = format!("{folder}/{named}");
    let (name, text) = FILES.iter().find(|(name, _)| *name == wanted)?;
    Some(SourceFile::new(name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_is_sorted_and_has_no_readme() {
        let names: Vec<_> = files().iter().map(|file| file.name.clone()).collect();
        assert!(names.is_sorted());
        assert!(names.iter().all(|name| name.starts_with("scenarios/")));
        assert!(!names.iter().any(|name| name.ends_with("README.md")));
        assert!(!names.is_empty());
    }
}
