//! `fewer affected` in a cargo project: what cargo built last is looked at, and nothing is built.

use std::path::PathBuf;

use fewer_console::ExitCode;
use fewer_core::{ElementId, Graph};
use fewer_report::InputKind;
use fewer_runners::cargo::Cargo;

use super::affected::{Input, Traced, data_elements, inputs, tell, traced};
use crate::affected_elements::{exactly, named, tests_reaching};
use crate::cargo::CargoBuild;
use crate::cli::AffectedOptions;
use crate::dependencies::Dependencies;
use crate::names::split;
use crate::part::Means;
use crate::session::Session;

pub fn execute(session: &Session<'_>, cargo: Cargo, options: &AffectedOptions) -> anyhow::Result<ExitCode> {
    let inputs = inputs(session, options)?;
    let built = CargoBuild::read(session, cargo)?;
    let unseen: Vec<Vec<String>> = inputs.iter().map(|input| built.unseen_made_from(&input.path)).collect();
    let part = built.part(session, true)?;
    let _phase = session.timings.phase("find affected tests");
    let traced: Vec<Traced> = match &part.means {
        Means::Objects(means) => inputs
            .iter()
            .zip(unseen)
            .map(|(input, unseen)| trace(session, &part.graph, &means.dependencies, input, unseen))
            .collect(),
        Means::Java(_) => Vec::new(),
    };
    let elements: Vec<ElementId> = traced.iter().flat_map(|traced| traced.elements.iter().copied()).collect();
    let tests = tests_reaching(&part.graph, &elements);
    drop(_phase);
    tell(session, options, traced, &tests, part.notes)
}

/// A source file first, then a file that tests read, then the name of an element.
fn trace(
    session: &Session<'_>,
    graph: &Graph,
    dependencies: &Dependencies,
    input: &Input,
    unseen: Vec<String>,
) -> Traced {
    let objects = dependencies.objects_of(&input.path);
    if !objects.is_empty() || !unseen.is_empty() {
        let mut elements = elements_of(graph, &objects);
        elements.extend(unseen.iter().flat_map(|program| exactly(graph, program)));
        return traced(input, InputKind::Source, [objects, unseen].concat(), elements);
    }
    let data = data_elements(session, graph, &input.path);
    if !data.is_empty() {
        return traced(input, InputKind::Data, Vec::new(), data);
    }
    let elements = if input.path.exists() { Vec::new() } else { named(graph, &input.text) };
    let kind = if elements.is_empty() { InputKind::Unknown } else { InputKind::Element };
    traced(input, kind, Vec::new(), elements)
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
