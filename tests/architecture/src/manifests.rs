//! What a crate depends on, but for its tests.

use std::fs;
use std::path::Path;

use toml::Table;

/// The crates of the workspace, sorted.
pub fn crates(top: &Path) -> Vec<String> {
    let entries = fs::read_dir(top.join("crates")).expect("there are crates").flatten();
    let mut crates: Vec<String> = entries
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    crates.sort();
    crates
}

/// The crates of the workspace that a crate is built of.
pub fn dependencies(top: &Path, name: &str) -> Vec<String> {
    let path = top.join("crates").join(name).join("Cargo.toml");
    let manifest: Table = fs::read_to_string(&path).expect("it is there").parse().expect("it is TOML");
    let dependencies = manifest.get("dependencies").and_then(|table| table.as_table());
    let names = dependencies.into_iter().flat_map(Table::keys);
    names.filter(|name| name.starts_with("fewer")).cloned().collect()
}
