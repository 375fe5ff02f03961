//! Foreign bytes: damaged class files, jars, sources and summaries never panic the readers, never make them loop,
//! and never make them ask for memory out of proportion. Bounded, seeded, so that CI runs it every time.

mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fewer_core::Fingerprints;
use fewer_java::summary::ClassTraits;
use fewer_java::{
    Class, ClassRoot, ClassSummary, Level, NoCache, Options, Program, SourceChange, SourceFacts,
    SourceProject, SourceReader, read_class, read_class_path, read_source,
};
use support::jars::JUNIT;
use support::trees::{Tree, build};
use tempfile::TempDir;

const SOURCE: &str = r#"
package p;
import java.util.*;
import static java.lang.Math.*;
@Deprecated
public abstract class Everything<T extends Comparable<T>> extends ArrayList<T> implements Runnable {
    @interface Info { String[] value() default {"a", "b"}; Class<?> type() default Object.class; int n() default 1; }
    enum Color { RED { int f() { return 1; } }, BLUE; int f() { return 2; } }
    record Pair<A, B>(A left, @Deprecated B right) {}
    sealed interface Shape permits Circle, Square {}
    static final class Circle implements Shape {}
    static final class Square implements Shape {}
    static final long LONG = 123456789012L; static final double D = 1.5; static final String S = "p.Everything$Color";
    static { System.out.println(S); }
    @Info(value = {"x"}, type = String.class, n = 3) private int[][] field = new int[3][4];
    public void run() {
        Runnable r = () -> System.out.println("lambda " + field.length);
        java.util.function.Supplier<Pair<String, Integer>> s = () -> new Pair<>("a", 1);
        try { r.run(); Class.forName("p." + s.get()); } catch (IllegalStateException | ClassNotFoundException e) { throw new RuntimeException(e); } finally { s.get(); }
        switch (Color.RED) { case RED: break; case BLUE: return; default: }
        switch (field.length) { case 1: break; case 100: break; case 10000: return; }
        Object o = new Object() { @Override public String toString() { return "anonymous" + abs(-1); } };
        if (o instanceof Shape shape && shape instanceof Circle) synchronized (o) { assert o != null; }
        String block = """
            text "block" p.Everything
            """;
    }
}
"#;

/// xorshift: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Damages a file as disks, tools and attackers do: flipped bytes, extreme numbers, cuts, repeats.
fn damage(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => {
                let extreme =
                    [0u32, 1, u32::MAX, 0x8000_0000, 0xffff, 0x7fff_ffff][random.below(6)].to_be_bytes();
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&extreme[..end - at]);
            }
            3 => bytes.truncate(at),
            4 => {
                let end = (at + random.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

fn compiled(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let sources = directory.join("tree");
    fs::create_dir_all(sources.join("main/p")).unwrap();
    fs::write(sources.join("main/p/Everything.java"), SOURCE).unwrap();
    let classes = directory.join("classes");
    let tree = Tree { sources, classes: classes.clone(), run: false, replaced: None };
    let built = build(&[tree], JUNIT);
    assert_eq!(built[0].complaint, None);
    let mut found = Vec::new();
    for entry in fs::read_dir(classes.join("p")).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("p/{}", path.file_name().unwrap().to_str().unwrap());
        found.push((name, fs::read(&path).unwrap()));
    }
    found.sort();
    assert!(found.len() > 8, "{} classes", found.len());
    found
}

fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn analyse(summaries: Vec<ClassSummary>) {
    let classes = summaries
        .into_iter()
        .map(|summary| Class { module: "m".into(), summary: Arc::new(summary) })
        .collect();
    let program = Program { classes, inputs: Vec::new() };
    for level in [Level::Class, Level::Member] {
        let graph = program.analyse(Options { level, ..Options::default() }).graph;
        Fingerprints::compute(&graph).snapshot(&graph);
    }
}

#[test]
fn damaged_class_files_and_summaries_are_survived() {
    let directory = TempDir::new().unwrap();
    let files = compiled(directory.path());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    std::panic::set_hook(Box::new(|_| {}));
    let (mut whole, mut opaque) = (0, 0);
    for (path, bytes) in &files {
        let summary = read_class(bytes, path);
        assert!(!summary.traits.has(ClassTraits::OPAQUE), "{path}: {:?}", summary.notes);
        let encoded = summary.encode();
        assert_eq!(ClassSummary::decode(&encoded).as_ref(), Some(&summary));
        let mut damaged_summaries = Vec::new();
        for round in 0..400 {
            let damaged = read_class(&damage(bytes, &mut random), path);
            assert_eq!(ClassSummary::decode(&damaged.encode()).as_ref(), Some(&damaged));
            match damaged.traits.has(ClassTraits::OPAQUE) {
                true => opaque += 1,
                false => whole += 1,
            }
            if round % 40 == 0 {
                damaged_summaries.push(damaged);
            }
            if let Some(decoded) = ClassSummary::decode(&damage(&encoded, &mut random)) {
                damaged_summaries.push(decoded);
            }
        }
        analyse(damaged_summaries);
    }
    let _ = std::panic::take_hook();
    assert!(opaque > 100 && whole > 100, "{opaque} opaque, {whole} whole");
    assert!(peak_memory_kib() < 1024 * 1024, "peak memory {} KiB", peak_memory_kib());
}

#[test]
fn deeply_nested_annotations_and_expressions_do_not_exhaust_the_stack() {
    let mut nested = b"class A { String s = ".to_vec();
    nested.extend(std::iter::repeat_n(b'(', 200_000));
    assert!(read_source(&nested).broken.is_some());
    let concatenation = format!("class A {{ String s = {}\"x\"; }}", "\"x\" + ".repeat(50_000));
    let facts = read_source(concatenation.as_bytes());
    assert_eq!(facts.types.len(), 1);
    let chain = format!("class A {{ Object o = a{}; }}", ".b()".repeat(20_000));
    assert_eq!(read_source(chain.as_bytes()).types.len(), 1);
    let dotted = format!("class A {{ Object o = a{}; }}", ".b".repeat(5_000));
    assert_eq!(read_source(dotted.as_bytes()).types.len(), 1);
}

#[test]
fn code_that_is_nested_without_end_counts_as_a_whole_with_the_cause() {
    let nested = |open: &str, close: &str| {
        let names = (0..100_000).map(|number| open.replace('#', &number.to_string())).collect::<String>();
        read_source(format!("class A {{ void m() {{ {names} x(); {} }} }}", close.repeat(100_000)).as_bytes())
    };
    for (open, close) in
        [("{", "}"), ("(", ")"), ("f(", ")"), ("class C# {", "}"), ("new Object() { void m# () {", "}}")]
    {
        let facts = nested(open, close);
        let why = facts.broken.unwrap_or_default();
        assert!(why.contains("brackets within each other"), "{open}: {why}");
        assert!(facts.types.iter().any(|declared| declared.name == "A"), "{open}");
    }
    for (open, close) in
        [("if (a) ", ""), ("List<", ">"), ("-", ""), ("!", ""), ("@A ", ""), ("a ? b : ", "c")]
    {
        nested(open, close);
    }
    assert!(peak_memory_kib() < 1024 * 1024, "peak memory {} KiB", peak_memory_kib());
}

#[test]
fn what_no_class_can_be_is_not_read_and_counts() {
    let directory = TempDir::new().unwrap();
    let root = ClassRoot { path: directory.path().to_path_buf(), module: "m".into() };
    let large = |path: &str, size: u64| {
        let file = fs::File::create(directory.path().join(path)).unwrap();
        file.set_len(size).unwrap();
    };
    large("Large.class", 1 << 30);
    large("large.txt", 1 << 30);
    std::os::unix::fs::symlink("/dev/zero", directory.path().join("Zero.class")).unwrap();
    std::os::unix::fs::symlink(".", directory.path().join("loop")).unwrap();
    let fifo =
        std::process::Command::new("mkfifo").arg(directory.path().join("Fifo.class")).status().unwrap();
    assert!(fifo.success());
    let read = || read_class_path(std::slice::from_ref(&root), &NoCache).unwrap();
    let found = read();
    let notes = |name: &str| {
        let class = found.classes.iter().find(|class| class.summary.name == name).unwrap();
        assert!(class.summary.traits.has(ClassTraits::OPAQUE), "{name}");
        class.summary.notes.join(" ")
    };
    assert!(notes("Large").contains("is larger than 16 MB"), "{}", notes("Large"));
    assert!(notes("Zero").contains("it is a device"), "{}", notes("Zero"));
    assert!(notes("Fifo").contains("it is a FIFO"), "{}", notes("Fifo"));
    assert_eq!(found.resources.len(), 1);
    large("large.txt", (1 << 30) + 1);
    large("Large.class", (1 << 30) + 1);
    let changed = read();
    assert_ne!(changed.resources[0].digest, found.resources[0].digest);
    let content = |found: &fewer_java::ClassPath| {
        found.classes.iter().find(|class| class.summary.name == "Large").unwrap().summary.content
    };
    assert_ne!(content(&changed), content(&found));
    assert!(peak_memory_kib() < 1024 * 1024, "peak memory {} KiB", peak_memory_kib());
}

#[test]
fn an_entry_of_a_jar_that_unpacks_to_gigabytes_is_told_by_what_is_packed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("bomb.jar");
    let write = |last: u8| {
        let mut jar = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for name in ["p/A.class", "p/large.txt"] {
            jar.start_file(name, zip::write::SimpleFileOptions::default().large_file(true)).unwrap();
            let block = vec![0; 1 << 24];
            (0..20).for_each(|_| jar.write_all(&block).unwrap());
            jar.write_all(&[last]).unwrap();
        }
        jar.finish().unwrap();
        let root = ClassRoot { path: path.clone(), module: "m".into() };
        read_class_path(std::slice::from_ref(&root), &NoCache).unwrap()
    };
    let (one, two) = (write(1), write(2));
    let content =
        |found: &fewer_java::ClassPath| (found.classes[0].summary.content, found.resources[0].digest);
    assert!(content(&one).0 != content(&two).0 && content(&one).1 != content(&two).1);
    assert!(one.classes[0].summary.notes.join(" ").contains("is larger than 16 MB"));
}

#[test]
fn damaged_sources_and_facts_are_survived() {
    let mut random = Random(42);
    let mut reader = SourceReader::new();
    let whole = reader.read(SOURCE.as_bytes());
    assert_eq!(whole.broken, None);
    let encoded = whole.encode();
    assert_eq!(SourceFacts::decode(&encoded).as_ref(), Some(&whole));
    let mut broken = 0;
    let mut project = SourceProject::new();
    for round in 0..600 {
        let facts = reader.read(&damage(SOURCE.as_bytes(), &mut random));
        assert_eq!(SourceFacts::decode(&facts.encode()).as_ref(), Some(&facts));
        broken += usize::from(facts.broken.is_some());
        let mut changes = Vec::new();
        let path = format!("p/F{}.java", round % 10);
        changes.push(SourceChange { path, module: "m".into(), facts: Some(Arc::new(facts)) });
        if let Some(decoded) = SourceFacts::decode(&damage(&encoded, &mut random)) {
            let path = format!("q/F{}.java", round % 10);
            changes.push(SourceChange { path, module: "m".into(), facts: Some(Arc::new(decoded)) });
        }
        project.update(changes);
        if round % 50 == 0 {
            analyse(project.classes().map(|class| (*class.summary).clone()).collect());
        }
    }
    assert!(broken > 100, "{broken} of 600 were broken");
}

#[test]
fn damaged_jars_are_survived() {
    let directory = TempDir::new().unwrap();
    let mut random = Random(7);
    let mut jar = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in [("p/A.class", &b"\xca\xfe\xba\xbe\0\0\0\x3d\0\x01"[..]), ("p/text.txt", b"text")]
    {
        jar.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        jar.write_all(content).unwrap();
    }
    let bytes = jar.finish().unwrap().into_inner();
    let path: PathBuf = directory.path().join("a.jar");
    let root = ClassRoot { path: path.clone(), module: "m".into() };
    fs::write(&path, &bytes).unwrap();
    let found = read_class_path(std::slice::from_ref(&root), &NoCache).unwrap();
    assert_eq!((found.classes.len(), found.resources.len()), (1, 1));
    for _ in 0..500 {
        fs::write(&path, damage(&bytes, &mut random)).unwrap();
        match read_class_path(std::slice::from_ref(&root), &NoCache) {
            Ok(_) => {}
            Err(error) => assert!(error.to_string().contains("a.jar"), "{error}"),
        }
    }
}
