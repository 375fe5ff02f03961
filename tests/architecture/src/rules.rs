//! `architecture.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// By crate those it may be built of.
    pub depends: BTreeMap<String, Vec<String>>,
    /// By crate the size of its largest circle of modules.
    pub circle: BTreeMap<String, usize>,
    pub words: BTreeMap<String, Words>,
    /// By enum.
    pub patterns: BTreeMap<String, Patterns>,
    pub names: Names,
}

/// The words of a language or framework.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub words: Vec<String>,
    pub rooms: Vec<String>,
    /// Lines of code with them elsewhere.
    pub outside: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patterns {
    pub home: String,
    pub outside: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// Names that several public types have.
    pub twice: usize,
}

impl Rules {
    pub fn read(top: &Path) -> Rules {
        let text = fs::read_to_string(top.join("architecture.toml")).expect("architecture.toml is there");
        toml::from_str(&text).unwrap_or_else(|error| panic!("architecture.toml: {error}"))
    }
}
