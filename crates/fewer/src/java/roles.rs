//! What a file of a Java project is, told by its path alone. Whether a file that may be a resource counts depends on
//! where Java is, and is decided with the whole state at hand.

/// What a file is to tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Java that is compiled.
    Source,
    /// A build description that makes its directory a module.
    Module,
    /// Code of the build, which may name modules.
    Build,
    /// Anything else that decides how a module is built.
    Setting,
    /// Code that is not read: it counts for every test of its module.
    Foreign,
    /// Found on the class path, or read by tests.
    Resource,
    /// For people.
    Nothing,
}

/// Directories that hold what tests read, also where no Java is.
const DATA_DIRECTORIES: &[&str] = &["src", "test", "tests", "testdata", "test-data", "resources"];
const MODULE_NAMES: &[&str] = &["pom.xml", "build.gradle", "build.gradle.kts"];
const SETTING_NAMES: &[&str] = &[
    "build.xml",
    "ivy.xml",
    "project.xml",
    "project.properties",
    "gradle.properties",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    "lombok.config",
    ".java-version",
    ".sdkmanrc",
    ".tool-versions",
];
const SETTING_ENDINGS: &[&str] = &["gradle", "lockfile", "kts"];
const FOREIGN_ENDINGS: &[&str] = &["kt", "groovy", "scala", "clj", "aj"];
/// Directories whose content is the build's own program.
const BUILD_DIRECTORIES: &[&str] = &["buildSrc", "build-logic"];
/// Directories below `src` that Maven keeps for the project's pages.
const PAGES: &[&str] = &["site", "changes"];
const PAGE_NAMES: &[&str] =
    &["package.html", "overview.html", ".gitignore", ".gitattributes", ".gitkeep", ".keep"];
const PAGE_PREFIXES: &[&str] = &["README", "LICENSE", "NOTICE", "CHANGELOG"];

/// What a path below the project's directory is.
pub fn role(path: &str) -> Role {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    if is_on_class_path(&parts) {
        return Role::Resource;
    }
    if parts.iter().any(|part| BUILD_DIRECTORIES.contains(part)) {
        return Role::Build;
    }
    if MODULE_NAMES.contains(&name) {
        return Role::Module;
    }
    if ["gradle", "kts"].contains(&ending) {
        return Role::Build;
    }
    let is_setting = SETTING_NAMES.contains(&name)
        || SETTING_ENDINGS.contains(&ending)
        || name.ends_with(".versions.toml")
        || parts.contains(&".mvn");
    if is_setting {
        return Role::Setting;
    }
    if ending == "java" {
        return Role::Source;
    }
    if FOREIGN_ENDINGS.contains(&ending) {
        return Role::Foreign;
    }
    if is_page(&parts, name) { Role::Nothing } else { Role::Resource }
}

/// Whether a file that may be a resource lies where resources do: in a directory of its module that is known for it
/// or has Java below it.
pub fn is_in_data_directory(module: &str, path: &str, has_java: impl Fn(&str) -> bool) -> bool {
    let top = top(module, path);
    !top.is_empty() && (DATA_DIRECTORIES.contains(&top) || has_java(top))
}

/// The first directory of a path within its module; empty for what is in the module's own.
pub fn top<'p>(module: &str, path: &'p str) -> &'p str {
    let within = path.strip_prefix(module).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    within.split_once('/').map_or("", |(top, _)| top)
}

/// `src/main/resources`, `src/test/resources` and their like: whatever is there is data, Java too.
fn is_on_class_path(parts: &[&str]) -> bool {
    parts.windows(3).any(|window| window[0] == "src" && window[2] == "resources")
}

fn is_page(parts: &[&str], name: &str) -> bool {
    parts.windows(2).any(|window| window[0] == "src" && PAGES.contains(&window[1]))
        || parts.contains(&"doc-files")
        || PAGE_NAMES.contains(&name)
        || PAGE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_what_a_file_is() {
        for (path, expected) in [
            ("src/main/java/p/C.java", Role::Source),
            ("X.java", Role::Source),
            ("src/main/java/p/resources/R.java", Role::Source),
            ("core/src/test/resources/input/Broken.java", Role::Resource),
            ("src/test/resources/pom.xml", Role::Resource),
            ("src/test/resources/README.md", Role::Resource),
            ("src/main/resources/META-INF/services/p.S", Role::Resource),
            ("pom.xml", Role::Module),
            ("core/build.gradle.kts", Role::Module),
            ("settings.gradle", Role::Build),
            ("gradle/java.gradle", Role::Build),
            ("buildSrc/src/main/java/Rules.java", Role::Build),
            ("gradle/libs.versions.toml", Role::Setting),
            (".mvn/jvm.config", Role::Setting),
            ("core/gradle.lockfile", Role::Setting),
            ("src/main/kotlin/p/K.kt", Role::Foreign),
            ("src/main/proto/message.proto", Role::Resource),
            ("src/changes/changes.xml", Role::Nothing),
            ("src/main/java/p/package.html", Role::Nothing),
            ("README.md", Role::Nothing),
        ] {
            assert_eq!(role(path), expected, "{path}");
        }
    }
}
