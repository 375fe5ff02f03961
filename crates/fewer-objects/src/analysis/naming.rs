//! The names of a graph's nodes, made from the summaries when somebody asks for one: most analyses end without.

use crate::link::NO_NODE;
use crate::scan::{BuildTree, Packed, Scanned};
use crate::summary::{ObjectSummary, Traits};

/// The names of all nodes: of so many elements, then of the made ones. `own` has per object and element the node,
/// `common` the same per pack.
pub(super) fn later_names(
    tree: &BuildTree,
    elements: usize,
    own: impl FnOnce() -> Vec<Vec<u32>> + Send + 'static,
    common: impl FnOnce(&[Packed]) -> Vec<Vec<u32>> + Send + 'static,
    made: Vec<String>,
) -> impl FnOnce() -> Vec<String> + Send + 'static {
    let (objects, packs) = (tree.objects.clone(), tree.packs.clone());
    move || {
        let mut names = vec![String::new(); elements];
        for (packed, nodes) in packs.iter().zip(common(&packs)) {
            for (element, node) in known(nodes) {
                // Equal elements of several packs are one node.
                names[node] = text(packed.pack.element_name(element));
            }
        }
        for (object, nodes) in objects.iter().zip(own()) {
            for (element, node) in known(nodes) {
                names[node] = own_name(object, element);
            }
        }
        names.into_iter().chain(made).collect()
    }
}

/// The elements that a node stands for, each with its node.
fn known(nodes: Vec<u32>) -> impl Iterator<Item = (u32, usize)> {
    (0..).zip(nodes).filter(|(_, node)| *node != NO_NODE).map(|(element, node)| (element, node as usize))
}

/// The name of an object's own element, for people and other states. Shared elements belong to no one object.
fn own_name(object: &Scanned<ObjectSummary>, element: u32) -> String {
    let name = text(object.summary.element_name(element));
    let traits = object.summary.elements[element as usize].traits;
    let is_of_all = traits.has(Traits::SHARED) && !traits.has(Traits::PRIVATE);
    if is_of_all { name } else { format!("{}:{name}", object.name) }
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
