//! What the class reader makes of compiled classes: debugging information does not count, a jar is read like a
//! directory, what the cache knows is not read again, and tests of classes are those of their sources.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use fewer_core::Digest;
use fewer_java::summary::{ClassTraits, LoadedKind, LoadedName};
use fewer_java::{
    ClassPath, ClassRoot, ClassSummary, NoCache, Options, Program, SourceChange, SourceProject, SummaryCache,
    read_class_path, read_source,
};
use tempfile::TempDir;

const SOURCE: &str = r#"package p;

import java.util.function.Supplier;

public class Main extends Base implements Runnable {
    static final String NAME = "p.Other";
    @Deprecated int counter = 3;

    public void run() {
        for (int i = 0; i < counter; i++) {
            Supplier<Other> made = Other::new;
            System.out.println(made.get() + "text" + i);
        }
    }

    static Object literal() throws Exception { return Class.forName(NAME); }
    static Object three() throws Exception { return Class.forName("p.Other", true, Main.class.getClassLoader()); }
    static Object method() throws Exception { return Main.class.getMethod("run", String.class, int.class); }
    static Object prefix(String s) throws Exception { return Class.forName("p.x." + s); }
    static Object computed(String s) throws Exception { System.out.println("p.Other"); return Class.forName(s); }
    static Object chosen(boolean b, String s) throws Exception { return Class.forName(b ? s : "p.Other"); }
    static Object enclosed(String s) throws Exception { return String.format("p.Other", Class.forName(s, true, null)); }
    static Object resource(String s) { return Main.class.getResource(s); }

    class Inner {}
    static class Nested {}
}

class Base {}
class Other {}
"#;

fn javac(directory: &Path, name: &str, option: &str, source: &str) -> PathBuf {
    let file = directory.join(format!("{name}-source/p/Main.java"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, source).unwrap();
    let classes = directory.join(name);
    let output = Command::new("javac")
        .args([option, "-nowarn", "-d"])
        .arg(&classes)
        .arg(&file)
        .output()
        .unwrap_or_else(|error| panic!("javac: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    classes
}

fn read(path: &Path, cache: &dyn SummaryCache) -> ClassPath {
    let root = ClassRoot { path: path.to_path_buf(), module: "m".into() };
    read_class_path(&[root], cache).unwrap()
}

fn contents(found: &ClassPath) -> BTreeMap<String, Digest> {
    found.classes.iter().map(|class| (class.summary.name.clone(), class.summary.content)).collect()
}

fn named<'c>(found: &'c ClassPath, name: &str) -> &'c ClassSummary {
    &found.classes.iter().find(|class| class.summary.name == name).unwrap().summary
}

#[test]
fn debugging_information_does_not_count_and_code_does() {
    let directory = TempDir::new().unwrap();
    let with = contents(&read(&javac(directory.path(), "with", "-g", SOURCE), &NoCache));
    let moved =
        SOURCE.replace("class Other", "\n\n\nclass Other").replace("public void run", "\n\npublic void run");
    let without = contents(&read(&javac(directory.path(), "without", "-g:none", &moved), &NoCache));
    assert_eq!(with.len(), 5);
    assert_eq!(with, without);
    let changed = SOURCE.replace("i < counter", "i <= counter");
    let changed = contents(&read(&javac(directory.path(), "changed", "-g", &changed), &NoCache));
    let different: Vec<&String> = with.keys().filter(|name| with[*name] != changed[*name]).collect();
    assert_eq!(different, ["p.Main"]);
}

#[test]
fn a_class_tells_its_references_and_what_it_loads_by_name() {
    let directory = TempDir::new().unwrap();
    let found = read(&javac(directory.path(), "classes", "-g", SOURCE), &NoCache);
    let main = named(&found, "p.Main");
    let references: BTreeSet<&str> =
        main.texts_of(&main.references).filter(|name| name.starts_with("p.")).collect();
    assert_eq!(references, BTreeSet::from(["p.Base", "p.Main$Inner", "p.Main$Nested", "p.Other"]));
    let of_member = |name: &str| {
        let member = main.members.iter().find(|member| main.text(member.name) == name).unwrap();
        member.unknowns.iter().map(|unknown| (unknown.kind, unknown.name.clone())).collect::<Vec<_>>()
    };
    for known in ["literal", "three", "method"] {
        assert_eq!(of_member(known), [], "{known}");
    }
    assert_eq!(of_member("prefix"), [(LoadedKind::Class, LoadedName::Prefix("p.x.".into()))]);
    for computed in ["computed", "chosen", "enclosed"] {
        assert_eq!(of_member(computed), [(LoadedKind::Class, LoadedName::Computed)], "{computed}");
    }
    assert_eq!(of_member("resource"), [(LoadedKind::Resource, LoadedName::Computed)]);
    assert!(named(&found, "p.Main$Inner").traits.has(ClassTraits::INNER));
    assert!(!named(&found, "p.Main$Nested").traits.has(ClassTraits::INNER));
}

#[derive(Default)]
struct MemoryCache(Mutex<HashMap<Digest, Vec<u8>>>);

impl SummaryCache for MemoryCache {
    fn load(&self, _kind: &str, keys: &[Digest]) -> HashMap<Digest, Vec<u8>> {
        let known = self.0.lock().unwrap();
        keys.iter().filter_map(|key| Some((*key, known.get(key)?.clone()))).collect()
    }

    fn save(&self, _kind: &str, summaries: &[(Digest, Vec<u8>)]) {
        self.0.lock().unwrap().extend(summaries.iter().cloned());
    }
}

#[test]
fn a_jar_is_read_like_a_directory_and_nothing_is_read_twice() {
    let directory = TempDir::new().unwrap();
    let classes = javac(directory.path(), "classes", "-g", SOURCE);
    fs::write(classes.join("p/data.txt"), "data").unwrap();
    let cache = MemoryCache::default();
    let from_directory = read(&classes, &cache);
    assert_eq!(from_directory.files_read, 5);
    let jar = directory.path().join("classes.jar");
    let mut writer = zip::ZipWriter::new(fs::File::create(&jar).unwrap());
    for entry in fs::read_dir(classes.join("p")).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("p/{}", path.file_name().unwrap().to_str().unwrap());
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(&fs::read(path).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let from_jar = read(&jar, &cache);
    assert_eq!(from_jar.files_read, 0);
    assert_eq!(contents(&from_jar), contents(&from_directory));
    assert_eq!(from_jar.resources, from_directory.resources);
    assert_eq!(from_jar.resources.len(), 1);
    let missing = ClassRoot { path: directory.path().join("none"), module: "m".into() };
    let error = read_class_path(&[missing], &NoCache).unwrap_err().to_string();
    assert!(error.contains("none cannot be read") && error.contains("Build the project first"), "{error}");
}

#[test]
fn both_readers_see_the_same_classes_and_references() {
    let directory = TempDir::new().unwrap();
    let compiled = read(&javac(directory.path(), "classes", "-g", SOURCE), &NoCache);
    let mut project = SourceProject::new();
    let facts = Some(Arc::new(read_source(SOURCE.as_bytes())));
    project.update(vec![SourceChange { path: "p/Main.java".into(), module: "m".into(), facts }]);
    let edges = |program: Program| -> Vec<(String, String)> {
        let graph = program.analyse(Options::default()).graph;
        let mut edges: Vec<(String, String)> = Vec::new();
        for from in graph.elements() {
            let targets = graph.references(from).iter();
            edges.extend(targets.map(|&to| (graph.name(from).to_string(), graph.name(to).to_string())));
        }
        edges.sort();
        edges
    };
    let from_source = Program { classes: project.classes().cloned().collect(), inputs: Vec::new() };
    let from_classes = Program { classes: compiled.classes, inputs: Vec::new() };
    assert_eq!(edges(from_source), edges(from_classes));
}
