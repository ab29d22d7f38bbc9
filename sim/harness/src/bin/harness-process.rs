//! The harness's process by itself, for the tests of this crate: signals and children need a real
//! process. What is installed is the verb `reference-harness` of the `skep` binary, which does the
//! same.

use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let env: BTreeMap<String, String> = std::env::vars().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let cwd = cwd();
    let code = runtime.expect("a runtime").block_on(skep_harness::main(&env, &cwd));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

#[expect(clippy::disallowed_methods, reason = "this is a binary: it knows where it stands")]
fn cwd() -> String {
    std::env::current_dir().map_or_else(|_| "/".to_owned(), |dir| dir.display().to_string())
}
