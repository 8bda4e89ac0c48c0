//! Fetches the artifacts of a program by Maven and compiles its driver. Both are kept until the list of artifacts or the driver changes.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::{Prepared, catalog::Program};
use crate::jdk::Jdk;

/// Makes a program ready to run.
pub(crate) fn prepare(program: &Program, sources: &Path, folder: &Path, jdk: &Jdk) -> Result<Prepared> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let libraries = class_path(&program.artifacts, &folder.join("libraries"))?;
    let driver = sources.join(&program.driver);
    let classes = folder.join("classes");
    let extension = driver.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if matches!(extension, "clj" | "groovy") {
        let arguments = ["-cp", &libraries, &program.main, &driver.to_string_lossy()];
        return Ok(Prepared { arguments: arguments.map(str::to_owned).into() });
    }
    let text = fs::read(&driver).with_context(|| format!("cannot read {}", driver.display()))?;
    let compiled = folder.join("compiled");
    let key = [text.as_slice(), libraries.as_bytes()].concat();
    if fs::read(&compiled).ok().as_ref() != Some(&key) {
        fs::create_dir_all(&classes).with_context(|| format!("cannot make {}", classes.display()))?;
        let mut command = match extension {
            "java" => {
                let mut javac = jdk.tool("javac");
                // Spring reads the names of parameters.
                javac
                    .args(["-g", "-parameters", "-nowarn", "-cp", &libraries, "-d"])
                    .arg(&classes)
                    .arg(&driver);
                javac
            }
            _ => {
                let compiler = class_path(&program.compiler, &folder.join("compiler"))?;
                let (main, options): (&str, &[&str]) = match extension {
                    "kt" => ("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", &["-no-stdlib", "-no-reflect"]),
                    "scala" => ("scala.tools.nsc.Main", &["-nobootcp"]),
                    other => bail!("there is no compiler for .{other}"),
                };
                let mut java = jdk.tool("java");
                java.args(["-cp", &compiler, main]).args(options).args(["-cp", &libraries, "-d"]);
                java.arg(&classes).arg(&driver);
                java
            }
        };
        let output = command.output().context("cannot start the compiler")?;
        if !output.status.success() {
            bail!("{} cannot be compiled: {}", program.driver, String::from_utf8_lossy(&output.stderr));
        }
        fs::write(&compiled, &key).context("cannot note what was compiled")?;
    }
    let path = format!("{}:{libraries}", classes.display());
    Ok(Prepared { arguments: ["-cp", &path, &program.main].map(str::to_owned).into() })
}

/// The jars of artifacts and of all that they depend on, as a class path.
pub(crate) fn class_path(artifacts: &[String], folder: &Path) -> Result<String> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (pom, file) = (folder.join("pom.xml"), folder.join("classpath.txt"));
    let wanted = project(artifacts)?;
    if fs::read_to_string(&pom).ok().as_ref() != Some(&wanted) || !file.exists() {
        fs::write(&pom, &wanted).context("cannot write the list of artifacts")?;
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "dependency:build-classpath", "--file"]).arg(&pom);
        maven.arg(format!("-Dmdep.outputFile={}", file.display())).stdin(Stdio::null());
        let output = maven.output().context("Maven (`mvn`), which fetches artifacts, cannot be started")?;
        if !output.status.success() {
            // Otherwise the next run would take the list for fetched.
            let _ = fs::remove_file(&pom);
            bail!("Maven could not fetch {}", artifacts.join(", "));
        }
    }
    Ok(fs::read_to_string(&file).context("Maven wrote no class path")?.trim().to_owned())
}

fn project(artifacts: &[String]) -> Result<String> {
    let mut dependencies = String::new();
    for artifact in artifacts {
        let [group, name, version] = artifact.split(':').collect::<Vec<_>>()[..] else {
            bail!("'{artifact}' is not group:artifact:version");
        };
        dependencies.push_str(&format!(
            "<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>\n"
        ));
    }
    Ok(format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n\
         <groupId>fissure</groupId><artifactId>real</artifactId><version>1</version><packaging>pom</packaging>\n\
         <dependencies>\n{dependencies}</dependencies>\n\
         <build><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>\
         <version>3.6.1</version></plugin></plugins></build></project>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifacts_become_a_project() {
        let text = project(&["a.b:c:1.2".to_owned()]).unwrap();
        assert!(
            text.contains("<groupId>a.b</groupId><artifactId>c</artifactId><version>1.2</version>"),
            "{text}"
        );
        assert!(project(&["a.b:c".to_owned()]).is_err());
    }
}
