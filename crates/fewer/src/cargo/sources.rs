//! Which files each object of a cargo build is made from, as rustc wrote it down beside programs and libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cargo::CargoBuild;
use crate::dependencies::{Dependencies, make_prerequisites};

/// What one program or library is made from.
#[derive(Clone)]
struct Unit {
    /// When it was made: its objects may be older, where rustc found them to be as they were.
    made: Option<SystemTime>,
    files: Option<BTreeSet<PathBuf>>,
}

impl CargoBuild {
    /// Every object with the files of its program or library.
    pub fn dependencies(&self) -> Dependencies {
        let mut units: BTreeMap<String, Unit> = BTreeMap::new();
        for test in &self.artifacts.tests {
            units.insert(test.name.clone(), self.unit(&test.executable));
        }
        for path in &self.artifacts.libraries {
            let name = path.strip_prefix(&self.directory).unwrap_or(path).to_string_lossy().into_owned();
            units.insert(name, self.unit(path));
        }
        let objects = self.tree.objects.iter().map(|object| {
            let unit = object.name.split_once('(').map_or_else(
                || object.name.rsplit_once('/').map_or("", |(target, _)| target),
                |(library, _)| library,
            );
            let unit = units.get(unit).cloned().unwrap_or(Unit { made: None, files: None });
            (object.name.clone(), unit.made, unit.files)
        });
        Dependencies::told(objects)
    }

    /// The files that test programs and libraries are compiled from, whether or not their objects were kept.
    pub fn compiled_files(&self) -> BTreeSet<PathBuf> {
        let tests = self.artifacts.tests.iter().map(|test| &test.executable);
        tests.chain(&self.artifacts.libraries).filter_map(|product| self.sources(product)).flatten().collect()
    }

    /// The test programs without objects that a file is compiled into.
    pub fn unseen_made_from(&self, file: &Path) -> Vec<String> {
        let is_made = |name: &&String| {
            let test = self.artifacts.tests.iter().find(|test| test.name == **name);
            test.and_then(|test| self.sources(&test.executable)).is_some_and(|files| files.contains(file))
        };
        self.unseen().filter(is_made).cloned().collect()
    }

    fn unit(&self, product: &Path) -> Unit {
        let written = fs::metadata(product).and_then(|metadata| metadata.modified());
        Unit { made: written.ok(), files: self.sources(product) }
    }

    /// `deps/demo-1f2e.d` stands beside `deps/demo-1f2e` and `deps/libdemo-1f2e.rlib`.
    fn sources(&self, product: &Path) -> Option<BTreeSet<PathBuf>> {
        let stem = product.file_stem()?.to_string_lossy().into_owned();
        let is_library = product.extension().is_some_and(|ending| ending == "rlib");
        let stem = if is_library { stem.strip_prefix("lib")?.to_string() } else { stem };
        let text = fewer_files::read_to_string(&product.with_file_name(format!("{stem}.d"))).ok()?;
        let files: BTreeSet<PathBuf> =
            make_prerequisites(&text).iter().map(|file| self.cargo.directory.join(file)).collect();
        (!files.is_empty()).then_some(files)
    }
}
