//! `fewer-graph/1`: the graph of a commit as a JSON document, made by whatever knows the language. It is read here;
//! fewer writes none.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use fewer_core::history::{Inputs, RecordedGraph, UnitsBuilder};
use fewer_core::{Digest, DigestBuilder, Domain, ElementId, GraphBuilder, Mapping, TestId, TestNode};
use fewer_git::CommitHash;
use serde::Deserialize;

const FORMAT: &str = "fewer-graph/1";
const ELEMENT: Domain = Domain::new("history.graph-element");
const DOCUMENT: Domain = Domain::new("history.graph-document");

/// The directory with a document per commit: `<commit>.json`.
#[derive(Clone, Debug)]
pub struct GraphDocuments {
    pub directory: PathBuf,
}

/// A document that was found.
pub struct Found {
    path: PathBuf,
    text: String,
}

#[derive(Deserialize)]
struct Document {
    elements: Vec<Element>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Element {
    name: String,
    /// Anything that differs when the element does: a hash, the text itself.
    content: String,
    #[serde(default)]
    references: Vec<String>,
    /// The files that it is made from, as git names them.
    inputs: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Test {
    id: TestId,
    roots: Vec<String>,
}

impl GraphDocuments {
    /// `None` if the commit has no document.
    pub fn find(&self, commit: CommitHash) -> anyhow::Result<Option<Found>> {
        let path = self.directory.join(format!("{commit}.json"));
        match fewer_files::read_to_string(&path) {
            Ok(text) => Ok(Some(Found { path, text })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }
}

impl Found {
    pub fn digest(&self) -> Digest {
        Digest::of(DOCUMENT, self.text.as_bytes())
    }

    pub fn graph(&self) -> anyhow::Result<RecordedGraph> {
        parse(&self.text).with_context(|| format!("in {}", self.path.display()))
    }
}

fn parse(text: &str) -> anyhow::Result<RecordedGraph> {
    #[derive(Deserialize)]
    struct Header {
        format: String,
    }
    let Header { format } = serde_json::from_str(text).context("it is no fewer-graph document")?;
    if format != FORMAT {
        bail!("its format is '{format}', and this fewer reads '{FORMAT}'");
    }
    let Document { elements, tests } = serde_json::from_str(text)?;
    let mut builder = GraphBuilder::with_capacity(elements.len(), elements.len());
    let mut units = UnitsBuilder::new();
    let mut numbers: HashMap<&str, ElementId> = HashMap::new();
    for Element { name, content, inputs, .. } in &elements {
        let element = builder.element(name, DigestBuilder::new(ELEMENT).text(name).text(content).finish());
        if numbers.insert(name, element).is_some() {
            bail!("element '{name}' is there twice");
        }
        if let Some(inputs) = inputs {
            let inputs = Inputs::Known(inputs.iter().map(|input| units.path(input)).collect());
            let unit = units.unit(name, inputs);
            units.member(element, unit);
        }
    }
    let number = |user: &dyn std::fmt::Display, name: &str| -> anyhow::Result<ElementId> {
        numbers
            .get(name)
            .copied()
            .ok_or_else(|| anyhow!("{user} refers to '{name}', which is not an element"))
    };
    for Element { name, references, .. } in &elements {
        for reference in references {
            builder.reference(numbers[name.as_str()], number(name, reference)?);
        }
    }
    for Test { id, roots } in tests {
        let roots = roots.iter().map(|root| number(&id, root)).collect::<Result<_, _>>()?;
        builder.test(TestNode { id, roots, mapping: Mapping::Mapped, disabled: false });
    }
    let graph = builder.build();
    if let Some(pair) = graph.tests().windows(2).find(|pair| pair[0].id == pair[1].id) {
        bail!("test '{}' is there twice", pair[0].id);
    }
    Ok(RecordedGraph::new(graph, units.build()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<RecordedGraph> {
        Found { path: PathBuf::from("graphs/0.json"), text: text.to_string() }.graph()
    }

    #[test]
    fn a_document_becomes_a_graph() {
        let graph = read(
            r#"{"format": "fewer-graph/1",
                "elements": [{"name": "t", "content": "1", "references": ["f"]},
                             {"name": "f", "content": "2", "inputs": ["f.c", "f.h"]}],
                "tests": [{"id": "unit::t", "roots": ["t"]}]}"#,
        )
        .unwrap();
        assert_eq!((graph.graph().element_count(), graph.graph().reference_count()), (2, 1));
        assert_eq!(graph.graph().tests()[0].id.to_string(), "unit::t");
        assert_eq!(graph.units().len(), 1);
    }

    #[test]
    fn a_wrong_document_is_refused_with_its_name_and_the_cause() {
        for (text, cause) in [
            ("[]", "it is no fewer-graph document"),
            (r#"{"format": "fewer-graph/2", "elements": [], "tests": []}"#, "reads 'fewer-graph/1'"),
            (
                r#"{"format": "fewer-graph/1", "elements": [{"name": "a", "content": "", "references": ["b"]}], "tests": []}"#,
                "a refers to 'b', which is not an element",
            ),
            (
                r#"{"format": "fewer-graph/1", "elements": [], "tests": [{"id": "u::t", "roots": ["b"]}]}"#,
                "u::t refers to 'b'",
            ),
            (
                r#"{"format": "fewer-graph/1", "elements": [{"name": "a", "content": ""}, {"name": "a", "content": ""}], "tests": []}"#,
                "element 'a' is there twice",
            ),
            (r#"{"format": "fewer-graph/1", "elements": []}"#, "missing field `tests`"),
        ] {
            let message = format!("{:#}", read(text).unwrap_err());
            assert!(message.starts_with("in graphs/0.json: ") && message.contains(cause), "{message}");
        }
    }
}
