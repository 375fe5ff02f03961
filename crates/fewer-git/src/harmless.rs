//! The surroundings in which `git` starts nothing that a repository names: no monitor, hook, filter, merge driver,
//! signature check or transport, whatever `.git/config`, the files it includes and `.gitattributes` say.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Given on the command line, where they win over every file. The order of a diff must not be read from a file
/// that never ends either.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.pager=cat",
    "credential.helper=",
    "diff.orderFile=/dev/null",
    "log.showSignature=false",
    "submodule.recurse=false",
];

/// Where git is called from a hook or an alias, these name another repository than the one that is asked about, or
/// a program.
const CLEARED: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF"];

/// Variables of git for settings whose names may hold any character.
const COUNT: &str = "GIT_CONFIG_COUNT";

/// The command, so surrounded.
pub(crate) fn git_in(directory: &Path) -> Command {
    let mut command = bare_git_in(directory);
    let first = std::env::var(COUNT).ok().and_then(|count| count.parse().ok()).unwrap_or(0usize);
    let overruled = Drivers::of(directory).overruled();
    for (number, (key, value)) in overruled.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{}", first + number), key);
        command.env(format!("GIT_CONFIG_VALUE_{}", first + number), value);
    }
    command.env(COUNT, (first + overruled.len()).to_string());
    command
}

/// Enough for commands that look at no file's content.
fn bare_git_in(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for name in CLEARED {
        command.env_remove(name);
    }
    // What is named from where git is started would be the repository's.
    command.env("PATH", absolute_places(&std::env::var_os("PATH").unwrap_or_default()));
    command
        .current_dir(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        // A partial clone would start whatever its remote names.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_TERMINAL_PROMPT", "0")
        .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command
}

/// Without the places that are relative. An empty list would mean the current directory.
fn absolute_places(path: &OsStr) -> OsString {
    let absolute = std::env::split_paths(path).filter(|place| place.is_absolute());
    let absolute = std::env::join_paths(absolute).unwrap_or_default();
    if absolute.is_empty() { OsString::from("/usr/bin:/bin") } else { absolute }
}

/// The drivers that a repository's settings define. A file chooses among them by its attributes.
#[derive(Debug, Default)]
pub(crate) struct Drivers {
    filters: BTreeSet<String>,
    merges: BTreeSet<String>,
}

impl Drivers {
    /// Asked once for each directory: settings are not expected to change while a command runs.
    pub(crate) fn of(directory: &Path) -> Arc<Drivers> {
        static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Arc<Drivers>>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(directory.to_path_buf()).or_insert_with(|| Arc::new(Drivers::asked(directory))).clone()
    }

    /// Reading settings starts nothing. Where there are none, git says so by its exit code.
    fn asked(directory: &Path) -> Drivers {
        let mut command = bare_git_in(directory);
        command.args(["config", "--null", "--name-only", "--get-regexp", r"^(filter|merge)\..*\."]);
        let listing = command.stdin(Stdio::null()).output().map_or(Vec::new(), |output| output.stdout);
        let mut drivers = Drivers::default();
        for key in listing.split(|byte| *byte == 0) {
            // Example: `filter.lfs.clean`; the name in the middle may hold dots.
            let key = String::from_utf8_lossy(key).into_owned();
            let Some((kind, rest)) = key.split_once('.') else { continue };
            let Some((name, _)) = rest.rsplit_once('.') else { continue };
            match kind {
                "filter" => drivers.filters.insert(name.to_string()),
                _ => drivers.merges.insert(name.to_string()),
            };
        }
        drivers
    }

    /// Whether files may be kept by git-lfs.
    pub(crate) fn has_large_files(&self) -> bool {
        self.filters.contains("lfs")
    }

    /// A filter without a command leaves content as it is. A merge driver needs one: it fails, which is a conflict.
    fn overruled(&self) -> Vec<(String, &'static str)> {
        let settings = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
        let filters = self.filters.iter().flat_map(|name| {
            settings.iter().map(move |(setting, value)| (format!("filter.{name}.{setting}"), *value))
        });
        let merges = self.merges.iter().map(|name| (format!("merge.{name}.driver"), "exit 1"));
        filters.chain(merges).collect()
    }
}
