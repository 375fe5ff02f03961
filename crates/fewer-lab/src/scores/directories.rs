//! The shared-directories score: the longest common prefix of directories of a target and a modified file, over the
//! number of directories of both; the best over the commit's files.
//!
//! Directories of all modified files form one tree; a commit is a few nodes of it, a target is the deepest node that
//! it shares with the tree, and the common prefix is found by climbing. Packages of the JVM form a second tree, as classes
//! are known by them and not by the directories that sources are in.

use fewer_core::ranking::{
    DIRECTORY_SCALE, directories_of_file, directories_of_target, package_of_file, package_of_target,
};
use rustc_hash::FxHashMap;

/// The two trees and, by commit, where its files are.
#[derive(Debug)]
pub struct Directories {
    nodes: Vec<Node>,
    children: FxHashMap<(u32, Box<str>), u32>,
    /// Position and node of each file that was added, until they are arranged.
    added: Vec<(u32, u32)>,
    /// By position: the commit's nodes are `places[starts[position]..starts[position + 1]]`.
    starts: Vec<u32>,
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    depth: u32,
}

/// The roots of the trees, the second of which is below the first, but no deeper.
const PATHS: u32 = 0;
const PACKAGES: u32 = 1;

/// Where a target is, by its path and by its package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetDirectory {
    path: Place,
    package: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// The deepest directory that modified files are in or below.
    node: u32,
    /// Of all its directories.
    depth: u32,
}

impl Default for Directories {
    fn default() -> Directories {
        Directories {
            nodes: vec![Node { parent: PATHS, depth: 0 }; 2],
            children: FxHashMap::default(),
            added: Vec::new(),
            starts: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl Directories {
    /// Adds a modified file.
    pub fn add(&mut self, position: u32, path: &str) {
        let by_path = self.insert(PATHS, directories_of_file(path));
        let by_package = package_of_file(path).map(|package| self.insert(PACKAGES, package));
        for node in [Some(by_path), by_package].into_iter().flatten() {
            self.added.push((position, node));
        }
        // Files of one directory come together, and count alike.
        if let [.., a, b, c, d] = self.added[..]
            && (a, b) == (c, d)
        {
            self.added.truncate(self.added.len() - 2);
        }
    }

    /// When all files are added.
    pub fn arrange(&mut self) {
        let mut pairs = std::mem::take(&mut self.added);
        pairs.sort_unstable();
        pairs.dedup();
        let commits = pairs.last().map_or(0, |(position, _)| *position as usize + 1);
        self.starts = vec![0; commits + 1];
        pairs.iter().for_each(|(position, _)| self.starts[*position as usize + 1] += 1);
        for commit in 0..commits {
            self.starts[commit + 1] += self.starts[commit];
        }
        self.places = pairs.into_iter().map(|(_, node)| node).collect();
    }

    /// Where a target is.
    pub fn target(&self, name: &str) -> TargetDirectory {
        TargetDirectory {
            path: self.place(PATHS, directories_of_target(name)),
            package: self.place(PACKAGES, package_of_target(name)),
        }
    }

    fn place<'n>(&self, root: u32, directories: impl Iterator<Item = &'n str>) -> Place {
        let mut place = Place { node: root, depth: 0 };
        for directory in directories {
            if self.nodes[place.node as usize].depth == place.depth {
                let child = self.children.get(&(place.node, Box::from(directory)));
                place.node = child.copied().unwrap_or(place.node);
            }
            place.depth += 1;
        }
        place
    }

    /// 0 where nothing is shared or no file is known.
    pub fn score(&self, target: &TargetDirectory, position: u32) -> u32 {
        let Some(&[start, end]) = self.starts.get(position as usize..position as usize + 2) else { return 0 };
        let places = &self.places[start as usize..end as usize];
        let shared = |&place: &u32| self.shared(target.path, place).max(self.shared(target.package, place));
        places.iter().map(shared).max().unwrap_or(0)
    }

    /// 0 where the target and the file are in different trees.
    fn shared(&self, target: Place, place: u32) -> u32 {
        let all = u64::from(target.depth + self.nodes[place as usize].depth);
        let (mut a, mut b) = (target.node, place);
        while a != b {
            let (of_a, of_b) = (self.nodes[a as usize], self.nodes[b as usize]);
            if of_a.depth >= of_b.depth {
                a = of_a.parent;
            }
            if of_b.depth >= of_a.depth {
                b = of_b.parent;
            }
        }
        (u64::from(self.nodes[a as usize].depth) * DIRECTORY_SCALE).checked_div(all).unwrap_or(0) as u32
    }

    /// The node of some directories.
    fn insert<'n>(&mut self, root: u32, directories: impl Iterator<Item = &'n str>) -> u32 {
        let mut node = root;
        for directory in directories {
            let depth = self.nodes[node as usize].depth + 1;
            let next = self.nodes.len() as u32;
            let child = *self.children.entry((node, Box::from(directory))).or_insert(next);
            if child == next {
                self.nodes.push(Node { parent: node, depth });
            }
            node = child;
        }
        node
    }
}

#[cfg(test)]
impl Directories {
    /// From the modified files of every commit: pairs of position and path.
    pub fn of<'f>(files: impl Iterator<Item = (u32, &'f str)>) -> Directories {
        let mut directories = Directories::default();
        files.for_each(|(position, path)| directories.add(position, path));
        directories.arrange();
        directories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &str, files: &[&str], expected: f64) {
        let directories = Directories::of(files.iter().map(|file| (3, *file)));
        let score = directories.score(&directories.target(target), 3);
        assert!(
            (f64::from(score) / DIRECTORY_SCALE as f64 - expected).abs() < 1e-9,
            "{target} {files:?}: {score}"
        );
    }

    #[test]
    fn the_score_is_the_shared_prefix_over_all_directories() {
        check("a/b/x_test", &["a/b/x.cc"], 0.5);
        check("a/b/x_test", &["a/c/x.cc"], 1.0 / 4.0);
        check("a/b/c/x_test", &["a/b/x.cc"], 2.0 / 5.0);
        check("a/x_test", &["a/b/c/x.cc"], 1.0 / 4.0);
        check("a/x_test", &["b/x.cc"], 0.0);
        check("x_test", &["x.cc"], 0.0);
    }

    #[test]
    fn the_nearest_modified_file_counts() {
        check("a/b/x_test", &["z/y.cc", "a/c/x.cc", "a/b/y.cc"], 0.5);
    }

    #[test]
    fn labels_and_test_ids_are_in_the_directories_of_their_paths() {
        check("//a/b:x", &["a/b/x.cc"], 0.5);
        check("a/b/x_test::Suite.Name/3", &["a/b/x.cc"], 0.5);
    }

    #[test]
    fn classes_are_in_their_packages_wherever_sources_are() {
        check("org.demo.ATest", &["app/src/main/java/org/demo/A.java"], 0.5);
        check("app::org.demo.ATest#works", &["app/src/main/java/org/demo/sub/A.java"], 2.0 / 5.0);
        check("org.demo.ATest", &["org/demo/readme.txt"], 0.0);
        check("app/x::org.demo.ATest", &["app/y.txt", "src/test/java/org/demo/B.java"], 0.5);
    }

    #[test]
    fn equal_fractions_score_equal_and_different_ones_in_order() {
        let files = ["a/b/x.cc", "a/b/c/d/x.cc"];
        let directories = Directories::of(files.iter().zip(0..).map(|(file, position)| (position, *file)));
        // 1/3 = 2/6: a/x against a/b, a/b/q/r/.. against a/b/c/d is 2/8.
        let one = directories.score(&directories.target("a/x"), 0);
        let other = directories.score(&directories.target("a/b/q/r/x"), 0);
        assert_eq!(one, other);
        assert!(directories.score(&directories.target("a/b/q/r/x"), 1) < one);
    }

    #[test]
    fn a_commit_without_files_shares_nothing() {
        let directories = Directories::of([(1, "a/x.cc")].into_iter());
        let target = directories.target("a/x");
        assert_eq!(
            [0, 1, 2, 99].map(|position| directories.score(&target, position) > 0),
            [false, true, false, false]
        );
    }
}
