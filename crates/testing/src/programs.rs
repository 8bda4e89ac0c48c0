//! The folders of programs, their programs, and the compiler.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    environment::{java_version, newer_tool},
    header::Header,
};

/// The release that programs are compiled for unless their header names another.
pub const OLDEST_RELEASE: u32 = 11;

/// A folder of programs with headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Folder {
    /// Data races, for `fissure detect`.
    Race,
    /// Atomic blocks, for `fissure detect`.
    Atomicity,
    /// Unusual ways to share objects, for `fissure detect --static`.
    Sharing,
    /// Programs that must print and end under `fissure detect` as without it.
    Behaviour,
    /// Schedule-dependent failures, for `fissure hunt`.
    Hunt,
    /// Atomic sets, for `fissure hunt`.
    Assets,
    /// Classes, for `fissure object`.
    Object,
    /// Programs that print everything that could differ from run to run.
    Determinism,
}

impl Folder {
    /// The folders of programs for `fissure detect`.
    pub const DETECT: [Folder; 4] = [Folder::Race, Folder::Atomicity, Folder::Sharing, Folder::Behaviour];

    /// The name of the folder, with which the names of its tests begin.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Folder::Race => "race",
            Folder::Atomicity => "atomicity",
            Folder::Sharing => "sharing",
            Folder::Behaviour => "behaviour",
            Folder::Hunt => "hunt",
            Folder::Assets => "assets",
            Folder::Object => "object",
            Folder::Determinism => "determinism",
        }
    }

    /// Its path in the repository.
    #[must_use]
    pub fn path(self) -> PathBuf {
        programs_folder().join(self.name())
    }

    /// All its programs, sorted by their names. The error lists every header that is not as it should be.
    pub fn programs(self) -> Result<Vec<Program>, String> {
        let folder = self.path();
        let files =
            java_files(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        let (mut programs, mut problems) = (Vec::new(), Vec::new());
        for file in files {
            match Program::read(self, file) {
                Ok(program) => programs.push(program),
                Err(problem) => problems.push(problem),
            }
        }
        match (problems.is_empty(), programs.is_empty()) {
            (true, false) => {
                programs.sort_by(|one, other| one.name.cmp(&other.name));
                Ok(programs)
            }
            (true, true) => Err(format!("there are no programs in {}", folder.display())),
            (false, _) => Err(problems.join("\n")),
        }
    }
}

/// One source file.
#[derive(Debug)]
pub struct Program {
    /// Its folder.
    pub folder: Folder,
    /// The path within the folder, without the extension, such as `pkg/Transfer`.
    pub name: String,
    /// The class with its package.
    pub class: String,
    /// The source.
    pub path: PathBuf,
    /// What its header says.
    pub header: Header,
    /// The lines of the header, for messages.
    pub lines: Vec<String>,
}

impl Program {
    fn read(folder: Folder, path: PathBuf) -> Result<Self, String> {
        let text =
            fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let header = Header::parse(folder, &text)
            .map_err(|error| format!("{}:{}: {}", path.display(), error.line, error.problem))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let package = text.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
        let class = package.map_or_else(|| stem.to_string(), |package| format!("{package}.{stem}"));
        let name = path.strip_prefix(folder.path()).unwrap_or(&path).with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        let lines =
            text.lines().filter_map(|line| line.strip_prefix("// fissure: ")).map(str::to_owned).collect();
        Ok(Program { folder, name, class, path, header, lines })
    }

    /// The JVM to run it on: this one, or a newer one if it needs that. `None` if there is no such JVM.
    #[must_use]
    pub fn java(&self, java: &Path) -> Option<PathBuf> {
        let needed = self.release();
        if needed <= OLDEST_RELEASE || needed <= java_version(java) {
            return Some(java.to_owned());
        }
        newer_tool("javac", needed).map(|javac| javac.with_file_name("java"))
    }

    /// The release that it is compiled for; older JVMs cannot run it.
    #[must_use]
    pub fn release(&self) -> u32 {
        self.header.release.unwrap_or(OLDEST_RELEASE)
    }
}

fn programs_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    folder.canonicalize().unwrap_or(folder)
}

/// All Java files below a folder.
fn java_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names_and_classes() {
        let programs = Folder::Race.programs().unwrap();
        let transfer = programs.iter().find(|program| program.name == "pkg/Transfer").unwrap();
        assert_eq!(transfer.class, "com.acme.bank.Transfer");
        assert_eq!(transfer.release(), OLDEST_RELEASE);
        assert!(programs.is_sorted_by(|one, other| one.name < other.name));
    }

    #[test]
    fn all_headers_are_understood() {
        for folder in Folder::DETECT.into_iter().chain([
            Folder::Hunt,
            Folder::Assets,
            Folder::Object,
            Folder::Determinism,
        ]) {
            folder.programs().unwrap_or_else(|problem| panic!("{problem}"));
        }
    }
}
