//! Paths as texts: absolute, `/` between components.

/// `name` in `dir`.
pub(crate) fn join(dir: &str, name: &str) -> String {
    format!("{}/{name}", dir.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_slash_between_components() {
        assert_eq!(join("/", "state"), "/state");
        assert_eq!(join("/state", "x"), "/state/x");
    }
}
