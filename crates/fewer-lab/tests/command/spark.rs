//! The engine on a real Spark cluster: a master and two workers on this machine, from the packages of PyPI.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::desk::{Desk, Ended, await_that, ended};

/// What is installed; Spark 4 needs Java 17.
const PACKAGES: [&str; 3] = ["pyspark==4.0.1", "pyarrow>=15", "pandas<3"];

/// A Python with Spark, made once in the user's cache.
fn python() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let place = cache.expect("there is a home directory").join("fewer/python");
    let (python, mark) = (place.join("bin/python"), place.join("fewer-packages"));
    let wanted = PACKAGES.join("\n");
    // Tests of several processes must not install at the same time.
    fs::create_dir_all(&place).unwrap();
    let lock = fs::File::create(place.join("lock")).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return python;
    }
    tool(Path::new("python3"), &[&["-m", "venv"], &[place.to_str().unwrap()][..]].concat());
    tool(&python, &[&["-m", "pip", "install", "--quiet"], &PACKAGES[..]].concat());
    fs::File::create(&mark).unwrap().write_all(wanted.as_bytes()).unwrap();
    python
}

#[track_caller]
fn tool(program: &Path, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A master and its workers, which end with it.
struct Cluster {
    url: String,
    processes: Vec<Child>,
    desk: Desk,
}

impl Cluster {
    fn start(python: &Path) -> Cluster {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let url = format!("spark://127.0.0.1:{port}");
        let mut cluster = Cluster { url: url.clone(), processes: Vec::new(), desk: Desk::new() };
        let host = ["--host", "127.0.0.1"];
        let master = [&["master.Master"], &host[..], &["--port", &port, "--webui-port", "0"]].concat();
        cluster.process(python, "master", &master);
        cluster.await_words("master", "I have been elected leader");
        for worker in ["one", "two"] {
            let directory = cluster.desk.file(worker).to_str().unwrap().to_string();
            let limits = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", &directory];
            cluster.process(
                python,
                worker,
                &[&["worker.Worker"], &host[..], &limits, &[url.as_str()]].concat(),
            );
        }
        for worker in ["one", "two"] {
            cluster.await_words(worker, "Successfully registered with master");
        }
        cluster
    }

    fn process(&mut self, python: &Path, name: &str, arguments: &[&str]) {
        let home = python.parent().unwrap().parent().unwrap().join("lib");
        let home = fs::read_dir(home).unwrap().next().unwrap().unwrap().path().join("site-packages/pyspark");
        let log = fs::File::create(self.desk.file(&format!("{name}.log"))).unwrap();
        let child = Command::new(home.join("bin/spark-class"))
            .arg(format!("org.apache.spark.deploy.{}", arguments[0]))
            .args(&arguments[1..])
            .env("SPARK_HOME", &home)
            .env("SPARK_DAEMON_MEMORY", "256m")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("spark-class starts");
        self.processes.push(child);
    }

    #[track_caller]
    fn await_words(&self, name: &str, words: &str) {
        let log = self.desk.file(&format!("{name}.log"));
        await_that(|| fs::read_to_string(&log).is_ok_and(|text| text.contains(words)));
    }

    /// What the executors of a worker say.
    fn logs(&self, worker: &str) -> String {
        let entries = |directory: PathBuf| {
            let entries = fs::read_dir(directory).into_iter().flatten();
            entries.map(|entry| entry.unwrap().path())
        };
        let executors = entries(self.desk.file(worker)).flat_map(entries);
        executors.filter_map(|executor| fs::read_to_string(executor.join("stderr")).ok()).collect()
    }

    /// Without a chance to say goodbye.
    fn kill_worker(&mut self) {
        self.processes[2].kill().unwrap();
        self.processes[2].wait().unwrap();
    }

    fn arguments<'a>(&'a self, python: &'a Path, output: &'a str) -> Vec<&'a str> {
        let python = python.to_str().unwrap();
        let mut arguments = vec!["run", "history", "-o", output, "--engine", "spark", "--master", &self.url];
        arguments.extend(["--python", python, "--partitions", "6", "--format", "json"]);
        arguments.extend([
            "--setting",
            "spark.executor.memory=512m",
            "--setting",
            "spark.driver.host=127.0.0.1",
        ]);
        arguments
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Every number of a run: each curve to the last bit, and what is told of rows and commits.
fn numbers(desk: &Desk, output: &str, ended: Ended) -> (String, String) {
    (ended.expect(0), fs::read_to_string(desk.file(output).join("curves.json")).unwrap())
}

#[test]
fn a_cluster_gives_the_numbers_of_the_embedded_engine_even_when_a_worker_dies() {
    let python = python();
    let desk = Desk::new();
    desk.lab(&["generate", "--rows", "150000", "--seed", "5", "--breaks", "0.2", "-o", "history"]).expect(0);
    let embedded = desk.lab(&["run", "history", "-o", "embedded", "--format", "json"]);
    let expected = numbers(&desk, "embedded", embedded);
    let mut cluster = Cluster::start(&python);
    let spark = desk.lab(&cluster.arguments(&python, "spark"));
    assert!(numbers(&desk, "spark", spark) == expected);
    assert!(["one", "two"].map(|worker| cluster.logs(worker).contains("Finished task")) == [true; 2]);
    let child = desk.start(&cluster.arguments(&python, "bereft"));
    // What it has done is lost with it, and what it does.
    let before = cluster.logs("two").matches("Finished task").count();
    await_that(|| cluster.logs("two").matches("Finished task").count() > before);
    cluster.kill_worker();
    let bereft = ended(child);
    assert!(numbers(&desk, "bereft", bereft) == expected);
    cluster.await_words("master", "Removing worker");
}

#[test]
fn what_is_missing_is_named_with_the_fix() {
    let desk = Desk::new();
    desk.lab(&["generate", "--rows", "500", "-o", "history"]).expect(0);
    let run = ["run", "history", "-o", "results", "--engine", "spark"];
    let with = |more: &[&str]| desk.lab(&[&run[..], more].concat()).refused();
    assert!(with(&[]).contains("--master <URL>"));
    let said = with(&["--master", "local", "--python", "/nowhere/python3"]);
    assert!(
        said.contains("cannot start /nowhere/python3") && said.contains("name one with --python"),
        "{said}"
    );
    // A Python without packages.
    tool(Path::new("python3"), &["-m", "venv", "--without-pip", desk.file("bare").to_str().unwrap()]);
    let said = with(&["--master", "local", "--python", "bare/bin/python"]);
    assert!(said.contains("has no pyarrow") && said.contains("pip install pyarrow"), "{said}");
    desk.write("bare/lib/pyarrow.py", "");
    let with_path = |name: &str, value: &Path, python: &Path| {
        let arguments = [&run[..], &["--master", "local", "--python", python.to_str().unwrap()]].concat();
        let output = desk.command(&arguments).env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = with_path("PYTHONPATH", &desk.file("bare/lib"), &desk.file("bare/bin/python"));
    assert!(said.contains("has no pyspark") && said.contains("pip install pyspark"), "{said}");
    let said = with_path("JAVA_HOME", &desk.file("bare"), &python());
    assert!(said.contains("Spark cannot start Java") && said.contains("set JAVA_HOME"), "{said}");
    assert!(!desk.file("results").exists());
}
