//! The classes in a folder or an archive, by the names of their files.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::Path,
};

use zip::ZipArchive;

/// The version of a class file is that of Java and this number.
pub(crate) const BEFORE_JAVA_1: u32 = 44;

/// The classes in a folder or an archive.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// Their names with dots, sorted.
    pub(crate) names: Vec<String>,
    /// The newest version of their files.
    pub(crate) newest_version: u16,
}

/// The classes in a folder or an archive. Those for other versions of Java in the same archive are not listed.
pub(crate) fn below(root: &Path) -> io::Result<Classes> {
    let mut classes = Classes::default();
    if root.is_dir() {
        classes.add_folder(root, "")?;
    } else {
        let mut archive = ZipArchive::new(BufReader::new(File::open(root)?)).map_err(io::Error::other)?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(io::Error::other)?;
            let name = entry.name().to_owned();
            if !name.starts_with("META-INF/") {
                classes.add(&name, &mut entry)?;
            }
        }
    }
    classes.names.sort();
    Ok(classes)
}

impl Classes {
    fn add_folder(&mut self, folder: &Path, package: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{package}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.add_folder(&entry.path(), &format!("{name}/"))?;
            } else if name.ends_with(".class") {
                self.add(&name, &mut File::open(entry.path())?)?;
            }
        }
        Ok(())
    }

    /// Adds the class of a file, if it is one.
    fn add(&mut self, file: &str, content: &mut dyn Read) -> io::Result<()> {
        let Some(name) = file.strip_suffix(".class") else { return Ok(()) };
        let mut start = [0; 8];
        if content.read_exact(&mut start).is_ok() {
            self.newest_version = self.newest_version.max(u16::from_be_bytes([start[6], start[7]]));
            self.names.push(name.replace('/', "."));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_found_with_their_versions() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("com/acme");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("A.class"), [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0]).unwrap();
        fs::write(folder.path().join("B.class"), [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 55]).unwrap();
        fs::write(folder.path().join("broken.class"), "").unwrap();
        fs::write(folder.path().join("notes.txt"), "no class").unwrap();
        let classes = below(folder.path()).unwrap();
        assert_eq!(
            (classes.names, classes.newest_version),
            (vec!["B".to_owned(), "com.acme.A".to_owned()], 61)
        );
    }
}
