//! The files of a crate's library or program, parsed, without their tests.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item};

/// A file, and the module that it is.
pub struct Source {
    /// Below the top of the workspace.
    pub path: PathBuf,
    pub text: String,
    pub file: File,
    /// Example: `googletest`, `run`. Empty for the crate itself.
    pub module: Vec<String>,
    /// Lines of what is compiled for tests only.
    pub tests: Vec<RangeInclusive<usize>>,
}

impl Source {
    /// Every file of a crate.
    pub fn of_crate(top: &Path, name: &str) -> Vec<Source> {
        let root = top.join("crates").join(name).join("src");
        let mut sources = Vec::new();
        for path in rust_files(&root) {
            let text = fs::read_to_string(&path).expect("the file was listed");
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let module = module_of(path.strip_prefix(&root).expect("it is below"));
            let path = path.strip_prefix(top).expect("it is below").to_path_buf();
            let tests = Tests::of(&file);
            sources.push(Source { path, text, file, module, tests });
        }
        sources
    }

    pub fn is_test(&self, line: usize) -> bool {
        self.tests.iter().any(|lines| lines.contains(&line))
    }

    /// Lines of code with their numbers, in lower case.
    pub fn lines(&self) -> impl Iterator<Item = (usize, String)> {
        let numbered = self.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let code =
            numbered.filter(|(number, line)| !self.is_test(*number) && !line.trim_start().starts_with("//"));
        code.map(|(number, line)| (number, line.to_lowercase()))
    }
}

/// Every file of Rust below a directory, sorted.
fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Example: `googletest/run.rs` is `googletest`, `run`; `java/mod.rs` is `java`; `main.rs` is the crate.
fn module_of(path: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

struct Tests(Vec<RangeInclusive<usize>>);

impl Tests {
    fn of(file: &File) -> Vec<RangeInclusive<usize>> {
        let mut tests = Tests(Vec::new());
        tests.visit_file(file);
        tests.0
    }
}

impl<'a> Visit<'a> for Tests {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Const(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if attributes.iter().any(is_for_tests) {
            self.0.push(item.span().start().line..=item.span().end().line);
        } else {
            visit::visit_item(self, item);
        }
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    let mut is_for_tests = false;
    if attribute.path().is_ident("cfg") {
        let _ = attribute.parse_nested_meta(|meta| {
            is_for_tests |= meta.path.is_ident("test");
            Ok(())
        });
    }
    is_for_tests
}
