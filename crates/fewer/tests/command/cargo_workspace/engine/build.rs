//! Makes code, a variable and a file from three texts.

use std::{env, fs, path::PathBuf};

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let text = |name: &str| {
        println!("cargo:rerun-if-changed={name}");
        fs::read_to_string(name).unwrap().trim_end().to_string()
    };
    fs::write(out.join("limit.rs"), format!("pub fn limit() -> u32 {{ {} }}\n", text("limit.txt"))).unwrap();
    fs::write(out.join("table.bin"), text("table.txt").to_uppercase()).unwrap();
    println!("cargo:rustc-env=ENGINE_FUEL={}", text("fuel.txt"));
}
