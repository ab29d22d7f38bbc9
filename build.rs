//! Embeds the built-in corpus: every scenario file of `scenarios/`, by its path from here.
//!
//! A build script and no library: `include_dir` cannot tell cargo about a file that was added, so
//! a new scenario would be missing from the binary until something else changes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=scenarios");
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    collect(&root.join("scenarios"), "scenarios", &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in files {
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    write(&PathBuf::from(variable("OUT_DIR")?).join("corpus.rs"), &list)
}

/// The scenario files below a folder, with the names that reports show.
fn collect(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
        let name = format!("{name}/{file}");
        if path.is_dir() {
            collect(&path, &name, files)?;
        } else if is_scenario_file(file) {
            files.push((name, path));
        }
    }
    Ok(())
}

/// The README of a folder is about its scenarios and holds none.
fn is_scenario_file(file: &str) -> bool {
    file.ends_with(".kdl") || (file.ends_with(".md") && file != "README.md")
}

#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

#[expect(clippy::disallowed_methods, reason = "this is what a build script is for")]
fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
}
