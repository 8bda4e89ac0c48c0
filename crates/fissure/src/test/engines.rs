//! Parts of JUnit that build tools add to the class path of the tests when they run them.

use std::path::Path;

use super::{
    error::TestError,
    listing::{beside, version_of},
    maven,
    project::Module,
};

/// Jars that contain all of the JUnit Platform.
const STANDALONE: &str = "junit-platform-console-standalone";
const PLATFORM: &str = "org.junit.platform";
const JUPITER: &str = "org.junit.jupiter";

/// Adds the launcher of the JUnit Platform, and Jupiter's engine if only its interface is there, to the class path: in the version that the
/// others have, from the local repository of Maven, or fetched by Maven.
pub(crate) fn complete(module: &mut Module) -> Result<(), TestError> {
    if version_of(&module.class_path, STANDALONE).is_some() {
        return Ok(());
    }
    if let Some((known, version)) = owned(version_of(&module.class_path, "junit-jupiter-api")) {
        add(module, &known, JUPITER, "junit-jupiter-engine", &version)?;
        let platform = platform_version(&version);
        add(module, &known, PLATFORM, "junit-platform-engine", &platform)?;
        return add(module, &known, PLATFORM, "junit-platform-launcher", &platform);
    }
    match owned(version_of(&module.class_path, "junit-platform-engine")) {
        Some((known, version)) => add(module, &known, PLATFORM, "junit-platform-launcher", &version),
        None => Ok(()),
    }
}

fn owned(found: Option<(&str, &str)>) -> Option<(String, String)> {
    found.map(|(entry, version)| (entry.to_owned(), version.to_owned()))
}

/// The version of the platform that belongs to a version of Jupiter: 1.10.2 to 5.10.2; from 6 on they are the same.
fn platform_version(jupiter: &str) -> String {
    jupiter.strip_prefix("5.").map_or_else(|| jupiter.to_owned(), |rest| format!("1.{rest}"))
}

/// Adds a jar to the class path unless it has it in some version.
fn add(module: &mut Module, known: &str, group: &str, name: &str, version: &str) -> Result<(), TestError> {
    if version_of(&module.class_path, name).is_some() {
        return Ok(());
    }
    let places = beside(known, group, name, version);
    let there = || places.iter().find(|place| place.is_file());
    let artifact = format!("{group}:{name}:{version}");
    let found = match there() {
        Some(place) => Some(place),
        None if maven::fetch(&module.directory, &artifact) => there(),
        None => None,
    };
    let Some(found) = found else {
        let engine = Path::new(known).file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(TestError::NoLauncher { engine, missing: artifact });
    };
    module.class_path.push(found.to_string_lossy().into_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_taken_from_the_local_repository() {
        let folder = tempfile::tempdir().unwrap();
        let jar = |path: &str| {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            file.to_string_lossy().into_owned()
        };
        let api = jar("org/junit/jupiter/junit-jupiter-api/5.9.1/junit-jupiter-api-5.9.1.jar");
        let engine = jar("org/junit/jupiter/junit-jupiter-engine/5.9.1/junit-jupiter-engine-5.9.1.jar");
        let platform = jar("org/junit/platform/junit-platform-engine/1.9.1/junit-platform-engine-1.9.1.jar");
        let launcher =
            jar("org/junit/platform/junit-platform-launcher/1.9.1/junit-platform-launcher-1.9.1.jar");
        let mut module = Module { class_path: vec![api.clone(), platform.clone()], ..Module::default() };
        complete(&mut module).unwrap();
        assert_eq!(module.class_path, [api, platform, engine, launcher]);
        complete(&mut module).unwrap();
        assert_eq!(module.class_path.len(), 4);
    }

    #[test]
    fn versions_of_the_platform_follow_those_of_jupiter() {
        assert_eq!(platform_version("5.10.2"), "1.10.2");
        assert_eq!(platform_version("6.0.1"), "6.0.1");
    }
}
