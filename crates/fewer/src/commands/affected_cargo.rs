//! `fewer affected` in a cargo project: what cargo built last is looked at, and nothing is built.

use std::path::{Path, PathBuf};

use fewer_core::{ElementId, Graph};
use fewer_runners::cargo::Cargo;

use super::affected::{Answer, MadeFrom, Traced, inputs, trace};
use crate::affected_elements::exactly;
use crate::cargo::CargoBuild;
use crate::cli::AffectedOptions;
use crate::dependencies::Dependencies;
use crate::names::split;
use crate::part::Means;
use crate::session::Session;

pub fn answer(session: &Session<'_>, cargo: Cargo, options: &AffectedOptions) -> anyhow::Result<Answer> {
    let inputs = inputs(session, options)?;
    let built = CargoBuild::read(session, cargo)?;
    let unseen: Vec<Vec<String>> = inputs.iter().map(|input| built.unseen_made_from(&input.path)).collect();
    let part = built.part(session, true)?;
    let _phase = session.timings.phase("find affected tests");
    let traced: Vec<Traced> = match &part.means {
        Means::Objects(means) => inputs
            .iter()
            .zip(unseen)
            .map(|(input, unseen)| {
                let made = made_from(&part.graph, &means.dependencies, &input.path, unseen);
                trace(session, &part.graph, input, made)
            })
            .collect(),
        Means::Java(_) => Vec::new(),
    };
    Ok(Answer::of(&part.graph, traced, part.notes))
}

/// The objects of a file, and the programs made of it whose objects were not kept.
fn made_from(graph: &Graph, dependencies: &Dependencies, path: &Path, unseen: Vec<String>) -> MadeFrom {
    let objects = dependencies.objects_of(path);
    if objects.is_empty() && unseen.is_empty() {
        return MadeFrom::default();
    }
    let mut elements = elements_of(graph, &objects);
    elements.extend(unseen.iter().flat_map(|program| exactly(graph, program)));
    MadeFrom { objects: [objects, unseen].concat(), elements }
}

/// What objects hold, and what other packages instantiated of the libraries among them.
fn elements_of(graph: &Graph, objects: &[String]) -> Vec<ElementId> {
    let mut crates: Vec<String> = objects.iter().filter_map(|object| mangled_crate(object)).collect();
    crates.sort();
    crates.dedup();
    let is_of = |name: &str| match split(name) {
        (Some(object), symbol) => {
            objects.binary_search_by(|known| known.as_str().cmp(object)).is_ok()
                || crates.iter().any(|name| symbol.contains(name.as_str()))
        }
        (None, symbol) => crates.iter().any(|name| symbol.contains(name.as_str())),
    };
    graph.elements().filter(|element| is_of(graph.name(*element))).collect()
}

/// How the library that an object is from occurs in symbols. Example: `6engine` for
/// `deps/libengine-1f2e.rlib(engine-1f2e.0.rcgu.o)`.
fn mangled_crate(object: &str) -> Option<String> {
    let (library, _) = object.split_once(".rlib(")?;
    let library = PathBuf::from(library).file_name()?.to_string_lossy().into_owned();
    let (name, _) = library.strip_prefix("lib")?.rsplit_once('-')?;
    Some(format!("{}{name}", name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_by_its_name_in_symbols() {
        let object = "deps/libbig_engine-1f2e.rlib(big_engine-1f2e.0.rcgu.o)";
        assert_eq!(mangled_crate(object).as_deref(), Some("10big_engine"));
        assert_eq!(mangled_crate("tool/bin/tool/380rba.o"), None);
    }
}
