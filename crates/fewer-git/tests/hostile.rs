//! Repositories whose settings name programs: none of them is started, and what is told is still right.

mod sample;

use std::fs;
use std::path::Path;

use fewer_git::{Attempt, PatchIds, Recognition, Redoing, Rehearsal, Scope, WorkTree};
use sample::Sample;
use sha_of::pointer_to;

/// A repository with files of every kind of attribute, in which every setting that could start a program does so.
struct Hostile {
    sample: Sample,
}

impl Hostile {
    fn new() -> Hostile {
        let sample = Sample::new();
        sample.write(".gitattributes", "*.txt filter=evil merge=evil diff=evil\n");
        sample.commit("data.txt", &sample::lines(&[]));
        sample.git(&["checkout", "-q", "-b", "side"]);
        sample.commit("data.txt", &sample::lines(&[(1, "side")]));
        sample.git(&["checkout", "-q", "main"]);
        sample.commit("data.txt", &sample::lines(&[(9, "main")]));
        let hostile = Hostile { sample };
        hostile.configure(&hostile.sample.root);
        hostile
    }

    fn canary(&self) -> std::path::PathBuf {
        self.sample.root.with_file_name("canary")
    }

    /// In a file that the settings include, as `git status` would read it.
    fn configure(&self, repository: &Path) {
        let canary = format!("echo started >> {}; cat", self.canary().display());
        let hooks = repository.join(".git/evil");
        fs::create_dir(&hooks).unwrap();
        let program = hooks.join("post-index-change");
        fs::write(&program, format!("#!/bin/sh\n{canary}\n")).unwrap();
        let mut permissions = fs::metadata(&program).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(&program, permissions).unwrap();
        let program = program.display();
        let settings = format!(
            "[core]\n fsmonitor = {program}\n hooksPath = {}\n sshCommand = {program}\n pager = {program}\n\
             [filter \"evil\"]\n clean = {program}\n smudge = {program}\n required = true\n\
             [filter \"evil.with=dots\"]\n process = {program}\n required = true\n\
             [merge \"evil\"]\n driver = {program}\n[diff]\n external = {program}\n\
             [diff \"evil\"]\n command = {program}\n textconv = {program}\n\
             [log]\n showSignature = true\n[gpg]\n program = {program}\n\
             [remote \"origin\"]\n url = /nowhere\n uploadpack = {program}\n promisor = true\n\
             [protocol \"file\"]\n allow = always\n[extensions]\n partialClone = origin\n",
            hooks.display()
        );
        fs::write(hooks.join("settings"), settings).unwrap();
        let config = repository.join(".git/config");
        let plain = fs::read_to_string(&config).unwrap();
        fs::write(config, format!("{plain}[include]\n path = evil/settings\n")).unwrap();
    }

    /// Every file looks changed by its times, so that git must look at contents.
    fn touch(&self) {
        let path = self.sample.root.join("data.txt");
        let content = fs::read(&path).unwrap();
        fs::write(path, content).unwrap();
    }

    fn started(&self) -> bool {
        fs::remove_file(self.canary()).is_ok()
    }
}

#[test]
fn no_question_starts_what_the_settings_of_a_repository_name() {
    let hostile = Hostile::new();
    let root = &hostile.sample.root;
    hostile.touch();
    hostile.sample.try_git(root, &["status"], b"");
    assert!(hostile.started(), "git itself starts them");
    hostile.touch();
    let tree = WorkTree::open(root).unwrap();
    assert!(!tree.state(|_| false).unwrap().dirty, "the content is that of the commit");
    assert!(tree.changed_since("HEAD").unwrap().is_empty());
    assert_eq!(tree.changed_between("HEAD~1", "HEAD").unwrap(), [Path::new("data.txt")]);
    tree.list_files(root).unwrap();
    let repository = hostile.sample.repository();
    hostile.sample.history();
    let (main, side) = (repository.resolve("main").unwrap(), repository.resolve("side").unwrap());
    let missing = "0123456789012345678901234567890123456789".parse::<fewer_git::CommitHash>().unwrap();
    assert_eq!(repository.blobs().unwrap().read(missing.0).unwrap(), None);
    let recognition = Recognition { redo: Redoing::All, patch_ids: PatchIds::Compare };
    repository.recognise(&Scope::All, recognition, &mut |_| ()).unwrap();
    assert!(!hostile.started());
    let rehearsal = Rehearsal::new(&repository).unwrap();
    let merged = rehearsal.try_one(&Attempt::Merge(vec![main, side])).unwrap();
    assert!(matches!(merged, fewer_git::Rehearsed::Conflict { .. }), "{merged:?}");
    assert!(!hostile.started());
}

#[test]
fn a_submodule_is_asked_without_its_settings_and_its_changes_count() {
    let hostile = Hostile::new();
    let outer = Sample::new();
    outer.commit("a.txt", "a\n");
    let inner = outer.root.join("inner");
    outer.git(&["clone", "-q", &format!("file://{}", hostile.sample.root.display()), "inner"]);
    outer.commit_all("embedded");
    hostile.configure(&inner);
    let touch = |content: &str| fs::write(inner.join("data.txt"), content).unwrap();
    touch(&sample::lines(&[(9, "main")]));
    let tree = WorkTree::open(&outer.root).unwrap();
    let clean = tree.state(|_| false).unwrap();
    assert!(!clean.dirty && !hostile.started());
    touch("changed\n");
    let changed = tree.state(|_| false).unwrap();
    assert!(changed.dirty && changed.digest != clean.digest && !hostile.started());
}

#[test]
fn a_working_tree_elsewhere_is_not_taken_for_this_one() {
    let sample = Sample::new();
    sample.commit("a.txt", "a\n");
    let elsewhere = tempfile::tempdir().unwrap();
    sample.git(&["config", "core.worktree", elsewhere.path().to_str().unwrap()]);
    assert!(WorkTree::open(&sample.root).is_none());
}

#[test]
fn a_large_file_is_unchanged_if_its_content_is_what_its_pointer_says() {
    let sample = Sample::new();
    sample.write(".gitattributes", "*.bin filter=lfs\n");
    sample.commit("large.bin", &pointer_to(b"the content\n"));
    sample.git(&["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    sample.git(&["config", "filter.lfs.required", "true"]);
    let dirty = || WorkTree::open(&sample.root).unwrap().state(|_| false).unwrap().dirty;
    sample.write("large.bin", "the content\n");
    assert!(!dirty());
    sample.write("large.bin", "the kontent\n");
    assert!(dirty());
}

mod sha_of {
    use sha2::{Digest, Sha256};

    pub fn pointer_to(content: &[u8]) -> String {
        let hash: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        let size = content.len();
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize {size}\n")
    }
}
