//! The modules of a Java project: a directory with a build description is one, and so is the project's directory.
//! Build descriptions are not understood, only searched for the modules that they name, so that a module counts as
//! using another rather once too often.

use std::collections::{BTreeMap, BTreeSet};

/// The module that is the project's directory.
pub const ROOT: &str = ".";

/// What a build description says of modules.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildText {
    /// What Maven calls the module.
    artifact: Option<String>,
    /// Artifacts, and last parts of Gradle's project paths, that occur in it.
    named: BTreeSet<String>,
    /// Gradle projects are not where their names say.
    moves_projects: bool,
}

/// The modules of one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Modules {
    directories: BTreeSet<String>,
    /// Per module those whose tests its files count for; nothing where that is not known.
    users: BTreeMap<String, BTreeSet<String>>,
}

impl BuildText {
    pub fn read(path: &str, content: &[u8]) -> BuildText {
        let text = String::from_utf8_lossy(content);
        if path.ends_with(".xml") { maven(&text) } else { gradle(&text) }
    }
}

impl Modules {
    /// From where the build descriptions are, and what all files of the build say.
    pub fn new<'a>(
        descriptions: impl Iterator<Item = &'a str>,
        texts: &BTreeMap<String, BuildText>,
    ) -> Modules {
        let mut directories: BTreeSet<String> =
            descriptions.map(|path| directory(path).to_string()).collect();
        directories.insert(ROOT.to_string());
        let mut modules = Modules { directories, users: BTreeMap::new() };
        modules.users = modules.find_users(texts);
        modules
    }

    /// The module of a file: the nearest directory above it that is one.
    pub fn of(&self, path: &str) -> &str {
        let mut at = directory(path);
        loop {
            if let Some(module) = self.directories.get(at) {
                return module;
            }
            at = directory(at);
        }
    }

    /// The modules whose tests a file of this module counts for; `None` for all of them.
    pub fn users(&self, module: &str) -> Option<impl Iterator<Item = &str>> {
        let users = self.users.get(module)?;
        (users.len() < self.directories.len()).then(|| users.iter().map(String::as_str))
    }

    fn find_users(&self, texts: &BTreeMap<String, BuildText>) -> BTreeMap<String, BTreeSet<String>> {
        if texts.values().any(|text| text.moves_projects) {
            return BTreeMap::new();
        }
        let mut by_module: BTreeMap<&str, Vec<&BuildText>> = BTreeMap::new();
        for (path, text) in texts {
            by_module.entry(self.of(path)).or_default().push(text);
        }
        let mut called: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for module in &self.directories {
            for name in names(module, &by_module) {
                called.entry(name).or_default().push(module);
            }
        }
        let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for user in &self.directories {
            // What is said above a module is said of it too.
            for above in self.from(user) {
                users.entry(above).or_default().insert(user);
                let named = by_module.get(above).into_iter().flatten().flat_map(|text| &text.named);
                for module in named.filter_map(|name| called.get(name)).flatten() {
                    users.entry(module).or_default().insert(user);
                }
            }
        }
        self.directories.iter().map(|module| (module.clone(), reached(module, &users))).collect()
    }

    /// A module and those above it.
    fn from<'a>(&'a self, module: &'a str) -> impl Iterator<Item = &'a str> {
        let above = |at: &&'a str| (*at != ROOT).then(|| self.of(at));
        std::iter::successors(Some(module), above)
    }
}

fn reached(module: &str, users: &BTreeMap<&str, BTreeSet<&str>>) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([module.to_string()]);
    let mut next = vec![module];
    while let Some(module) = next.pop() {
        for &user in users.get(module).into_iter().flatten() {
            if seen.insert(user.to_string()) {
                next.push(user);
            }
        }
    }
    seen
}

/// The directory above; that of the project for what is in it, and for itself.
fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(directory, _)| directory)
}

/// What other modules may call a module.
fn names(module: &str, texts: &BTreeMap<&str, Vec<&BuildText>>) -> BTreeSet<String> {
    let own = texts.get(module).into_iter().flatten();
    let mut names: BTreeSet<String> = own.filter_map(|text| text.artifact.clone()).collect();
    if module != ROOT {
        let last = module.rsplit('/').next().unwrap_or(module);
        names.insert(plain(last));
    }
    names
}

/// Every `<artifactId>`; the module's own is the first outside of `<parent>`.
fn maven(text: &str) -> BuildText {
    let artifacts = |text: &str| -> Vec<String> {
        let values = text.split("<artifactId>").skip(1);
        values.filter_map(|rest| Some(rest.split_once('<')?.0.trim().to_string())).collect()
    };
    let (before, rest) = text.split_once("<parent>").unwrap_or((text, ""));
    let after = rest.split_once("</parent>").map_or("", |(_, after)| after);
    let own = [before, after].map(artifacts).concat();
    BuildText {
        artifact: own.into_iter().next(),
        named: artifacts(text).into_iter().collect(),
        moves_projects: false,
    }
}

/// The last parts of quoted project paths (`':a:b'`) and of the names of projects (`projects.a.bC`).
fn gradle(text: &str) -> BuildText {
    let mut named = BTreeSet::new();
    for quoted in text.split(['"', '\'']) {
        if let Some((_, last)) = quoted.rsplit_once(':') {
            named.insert(plain(last));
        }
    }
    for rest in text.split("projects.").skip(1) {
        let path = rest.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').next().unwrap_or(rest);
        named.extend(path.split('.').filter(|part| !part.is_empty()).map(plain));
    }
    BuildText { artifact: None, named, moves_projects: text.contains("projectDir") }
}

/// Gradle writes `my-core` as `myCore` too.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let texts: BTreeMap<String, BuildText> = files
            .iter()
            .map(|(path, text)| (path.to_string(), BuildText::read(path, text.as_bytes())))
            .collect();
        let is_module = |path: &&str| path.ends_with("pom.xml") || path.ends_with("build.gradle");
        Modules::new(files.iter().map(|(path, _)| *path).filter(is_module), &texts)
    }

    fn users(modules: &Modules, module: &str) -> Vec<String> {
        match modules.users(module) {
            Some(users) => users.map(str::to_string).collect(),
            None => vec!["all".to_string()],
        }
    }

    #[test]
    fn a_file_belongs_to_the_nearest_module_above_it() {
        let modules = modules(&[("core/pom.xml", ""), ("core/fast/pom.xml", "")]);
        assert_eq!(modules.of("core/src/C.java"), "core");
        assert_eq!(modules.of("core/fast/src/C.java"), "core/fast");
        assert_eq!(modules.of("corex/C.java"), ".");
        assert_eq!(modules.of("C.java"), ".");
    }

    #[test]
    fn a_module_counts_for_those_below_it_and_those_that_name_it() {
        let pom = |own: &str, uses: &str| {
            format!(
                "<project><parent><artifactId>all</artifactId></parent><artifactId>{own}</artifactId>\
                 <dependency><artifactId>{uses}</artifactId></dependency></project>"
            )
        };
        let modules = modules(&[
            ("pom.xml", "<project><artifactId>all</artifactId></project>"),
            ("a/pom.xml", &pom("the-a", "junit")),
            ("b/pom.xml", &pom("the-b", "the-a")),
            ("c/pom.xml", &pom("the-c", "the-b")),
            ("d/pom.xml", &pom("the-d", "junit")),
        ]);
        assert_eq!(users(&modules, "."), ["all"]);
        assert_eq!(users(&modules, "a"), ["a", "b", "c"], "through another module");
        assert_eq!(users(&modules, "d"), ["d"]);
    }

    #[test]
    fn gradle_names_projects_by_path_or_accessor_or_elsewhere() {
        let files = [
            ("build.gradle", ""),
            ("my-core/build.gradle", ""),
            ("b/build.gradle", "dependencies { api project(':my-core') }"),
            ("c/build.gradle", "dependencies { api(projects.myCore) }"),
            ("d/build.gradle", "api 'org.junit:junit:4'"),
        ];
        assert_eq!(users(&modules(&files), "my-core"), ["b", "c", "my-core"]);
        let moved = [&files[..], &[("settings.gradle", "project(':x').projectDir = file('d')")]].concat();
        assert_eq!(users(&modules(&moved), "my-core"), ["all"]);
        let for_all = [&files[1..], &[("build.gradle", "subprojects { x project(':my-core') }")]].concat();
        assert_eq!(users(&modules(&for_all), "my-core"), ["all"]);
    }
}
