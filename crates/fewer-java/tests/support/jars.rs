//! Jars of test frameworks and compilers, from Maven's local repository; Maven fetches those that are missing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

pub const JUNIT: &[&str] = &[
    "org.junit.platform:junit-platform-console-standalone:1.10.2",
    "junit:junit:4.13.2",
    "org.hamcrest:hamcrest-core:1.3",
];
pub const TESTNG: &[&str] = &["org.testng:testng:7.9.0"];
pub const KOTLIN: &[&str] = &[
    "org.jetbrains.kotlin:kotlin-compiler-embeddable:1.9.24",
    "org.jetbrains.kotlin:kotlin-stdlib:1.9.24",
    "org.jetbrains.kotlin:kotlin-script-runtime:1.9.24",
    "org.jetbrains.kotlin:kotlin-reflect:1.6.10",
    "org.jetbrains.kotlin:kotlin-daemon-embeddable:1.9.24",
    "org.jetbrains.intellij.deps:trove4j:1.0.20200330",
    "org.jetbrains:annotations:13.0",
];

/// Two tests must not fetch the same jar at once.
static FETCHING: Mutex<()> = Mutex::new(());

/// The paths of some artifacts (`group:artifact:version`).
pub fn jars(artifacts: &[&str]) -> Vec<PathBuf> {
    artifacts.iter().map(|artifact| jar(artifact)).collect()
}

fn jar(artifact: &str) -> PathBuf {
    let _alone = FETCHING.lock().unwrap();
    let parts: Vec<&str> = artifact.split(':').collect();
    let [group, name, version] = parts[..] else { panic!("{artifact} is not group:artifact:version") };
    let home = env::var_os("HOME").expect("HOME is set");
    let path = Path::new(&home)
        .join(".m2/repository")
        .join(group.replace('.', "/"))
        .join(name)
        .join(version)
        .join(format!("{name}-{version}.jar"));
    if !path.is_file() {
        let output = Command::new("mvn")
            .args(["-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:get"])
            .arg(format!("-Dartifact={artifact}"))
            .output()
            .unwrap_or_else(|error| panic!("mvn: {error}"));
        assert!(path.is_file(), "mvn did not fetch {artifact}: {}", String::from_utf8_lossy(&output.stdout));
    }
    path
}
