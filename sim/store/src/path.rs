//! Paths as texts: absolute, `/` between components.

/// The directory above a path; `None` of `/` and of what is no absolute path.
pub(crate) fn parent(path: &str) -> Option<&str> {
    let (dir, name) = path.trim_end_matches('/').rsplit_once('/')?;
    (!name.is_empty()).then_some(if dir.is_empty() { "/" } else { dir })
}

/// `name` in `dir`.
pub(crate) fn join(dir: &str, name: &str) -> String {
    format!("{}/{name}", dir.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_but_the_root_has_a_parent() {
        assert_eq!(parent("/state/x"), Some("/state"));
        assert_eq!(parent("/state/"), Some("/"));
        assert_eq!(parent("/"), None);
        assert_eq!(parent("state"), None);
    }

    #[test]
    fn a_path_has_one_slash_between_components() {
        assert_eq!(join("/", "state"), "/state");
        assert_eq!(join("/state", "x"), "/state/x");
    }
}
