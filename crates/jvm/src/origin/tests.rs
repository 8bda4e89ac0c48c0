//! Tests of where classes come from, and whether they are the application's.

use super::archive::Artifact;
use super::*;

fn check_source(url: &str, expected: CodeSource) {
    let (protocol, file) = url.split_once(':').unwrap();
    assert_eq!(CodeSource::parse(protocol, file, |path| path.ends_with(".jar")), expected, "{url}");
}

#[test]
fn locations_are_parsed() {
    let directory = |path: &str| CodeSource::Directory(path.to_owned());
    let folder =
        |archive: &str, folder: &str| CodeSource::Folder { archive: archive.into(), folder: folder.into() };
    let nested =
        |archive: &str, inner: &str| CodeSource::Nested { archive: archive.into(), inner: inner.into() };
    check_source("file:/x/target/classes/", directory("/x/target/classes"));
    check_source("file:/x/my%20app/out/", directory("/x/my app/out"));
    check_source("file:/x/Main.java", directory("/x/Main.java"));
    check_source("file:/x/100%25/a%zz/", directory("/x/100%/a%zz"));
    check_source("file:/x/app.jar", CodeSource::Archive("/x/app.jar".into()));
    check_source("jar:file:/x/app.jar!/", CodeSource::Archive("/x/app.jar".into()));
    check_source("jar:file:/x/app.jar!/BOOT-INF/classes!/", folder("/x/app.jar", "BOOT-INF/classes"));
    check_source("jar:file:/x/app.jar!/BOOT-INF/lib/a.jar!/", nested("/x/app.jar", "BOOT-INF/lib/a.jar"));
    check_source("jar:nested:/x/app.jar/!BOOT-INF/classes/!/", folder("/x/app.jar", "BOOT-INF/classes"));
    check_source("jar:nested:/x/app.jar/!BOOT-INF/lib/a.jar!/", nested("/x/app.jar", "BOOT-INF/lib/a.jar"));
    check_source("jrt:/java.sql", CodeSource::Image("java.sql".into()));
    check_source("vfs:/content/a.war/WEB-INF/lib/b.jar/", {
        CodeSource::Elsewhere("vfs:/content/a.war/WEB-INF/lib/b.jar/".into())
    });
}

#[test]
fn the_main_class_archive_or_module_is_recognized() {
    fn check(command: &str, class_path: &str, module: &str, expected: Main) {
        let program = Program::new(command, class_path, module, |path| path.ends_with(".jar"));
        assert_eq!(program.main, expected, "{command}");
    }
    check("com.acme.Main x", "a:b.jar", "", Main::Class("com.acme.Main".into()));
    check("my app.jar x", "my app.jar", "", Main::Archive("my app.jar".into()));
    check("app/com.acme.Main", "", "app", Main::Module("app".into()));
    check("Main", "Main", "", Main::Class("Main".into()));
    check("", "", "", Main::Unknown);
}

/// An archive with artifacts, written `group:name`, and perhaps a main class.
fn contents(artifacts: &[&str], main_class: Option<&str>) -> Contents {
    let artifact = |text: &&str| {
        let (group, name) = text.split_once(':').unwrap();
        Artifact { group: group.to_owned(), name: name.to_owned() }
    };
    Contents {
        artifacts: artifacts.iter().map(artifact).collect(),
        main_class: main_class.map(str::to_owned),
        ..Contents::default()
    }
}

fn started(main: Main) -> Program {
    Program { main, project: Some("/home/me/bank".to_owned()), ..Program::default() }
}

fn check(program: &Program, url: &str, holds: Contents, class: &str, expected: Kind) {
    let (protocol, file) = url.split_once(':').unwrap();
    let source = CodeSource::parse(protocol, file, |path| path.ends_with(".jar"));
    let role = program.role(&source, None, || holds);
    assert_eq!(role.kind(class), Some(expected), "{url} {class} {role:?}");
}

#[test]
fn directories_are_the_application_and_archives_are_not() {
    use Kind::{Application, Jdk, Library};
    let program = started(Main::Class("com.acme.Main".into()));
    let none = Contents::default;
    check(&program, "file:/x/target/classes/", none(), "org.apache.commons.foo.Foo", Application);
    check(&program, "file:/x/target/classes/", none(), "com.sun.own.Foo", Application);
    check(&program, "file:/x/lib/guava.jar", none(), "com.google.common.base.Joiner", Library);
    check(&program, "jrt:/java.sql", none(), "java.sql.Driver", Jdk);
    check(&program, "jrt:/com.acme.tool", none(), "com.acme.tool.A", Library);
    check(&program, "jar:file:/x/a.jar!/BOOT-INF/classes!/", none(), "com.acme.A", Application);
    check(&program, "jar:nested:/x/a.jar/!BOOT-INF/classes/!/", none(), "com.acme.A", Application);
    check(&program, "jar:file:/x/a.jar!/BOOT-INF/lib/b.jar!/", none(), "com.acme.A", Library);
    check(&program, "vfs:/content/a.war/WEB-INF/classes/", none(), "com.acme.A", Application);
    check(&program, "vfs:/content/a.war/WEB-INF/lib/b.jar/", none(), "com.acme.A", Library);
    check(&program, "file:/groovy/script", none(), "Script1", Application);
    assert_eq!(program.role(&CodeSource::Nowhere, None, none).kind("com.acme.A"), None);
}

#[test]
fn archives_that_the_project_built_are_the_application() {
    use Kind::{Application, Library};
    let program = started(Main::Class("com.acme.Main".into()));
    let check = |path: &str, expected| {
        check(&program, &format!("file:{path}"), Contents::default(), "org.other.Thing", expected);
    };
    check("/home/me/bank/target/bank-1.0.jar", Application);
    check("/home/me/bank/core/build/libs/core.jar", Application);
    check("/home/me/bank/core/target/scala-3.3/core.jar", Application);
    check("/home/me/bank/lib/guava.jar", Library);
    check("/home/me/bank/target/lib/guava.jar", Library);
    check("/home/me/bank/target/dependency/guava.jar", Library);
    check("/home/me/bank/.m2/repository/target/guava.jar", Library);
    check("/home/me/bank/.gradle/target/guava.jar", Library);
    check("/home/me/banking/target/other.jar", Library);
    check("/home/me/.m2/repository/com/acme/x.jar", Library);
}

#[test]
fn the_archive_of_the_main_class_is_the_application() {
    use Kind::{Application, Library};
    let mut program = started(Main::Class("com.acme.Main".into()));
    check(&program, "file:/opt/app.jar", Contents::default(), "com.acme.A", Library);
    program.main_archive = Some("/opt/app.jar".to_owned());
    check(&program, "file:/opt/app.jar", Contents::default(), "com.acme.A", Application);
    check(&program, "file:/opt/lib.jar", Contents::default(), "com.acme.A", Library);
    program.main_archive = Some("/home/me/.m2/repository/app.jar".to_owned());
    check(&program, "file:/home/me/.m2/repository/app.jar", Contents::default(), "com.acme.A", Library);
    assert!(program.is_main_class("com.acme.Main") && !program.is_main_class("com.acme.Other"));
    let runner = started(Main::Class("org.junit.platform.console.ConsoleLauncher".into()));
    assert!(!runner.is_main_class("org.junit.platform.console.ConsoleLauncher"));
}

#[test]
fn the_main_module_is_the_application() {
    let program = started(Main::Module("com.acme.app".into()));
    let kind = |url: &str, module: &str| {
        let (protocol, file) = url.split_once(':').unwrap();
        let source = CodeSource::parse(protocol, file, |path| path.ends_with(".jar"));
        program.role(&source, Some(module), Contents::default).kind("x.Y")
    };
    assert_eq!(kind("file:/mods/app.jar", "com.acme.app"), Some(Kind::Application));
    assert_eq!(kind("file:/mods/lib.jar", "com.acme.lib"), Some(Kind::Library));
    assert_eq!(kind("jrt:/com.acme.app", "com.acme.app"), Some(Kind::Application));
    // A program that is started as a source file runs in a module of the JDK.
    let source = started(Main::Module("jdk.compiler".into()));
    let image = CodeSource::Image("jdk.compiler".into());
    assert_eq!(source.role(&image, Some("jdk.compiler"), Contents::default).kind("x.Y"), Some(Kind::Jdk));
}

/// Checks a class in `/x/bank-1.0.jar`, the archive with which the JVM was started.
fn check_shaded(holds: Contents, class: &str, expected: Kind) {
    let program = started(Main::Archive("/x/bank-1.0.jar".into()));
    check(&program, "file:/x/bank-1.0.jar", holds, class, expected);
}

#[test]
fn libraries_in_the_archive_of_the_application_are_libraries() {
    use Kind::{Application, Library};
    let main = Some("com.acme.bank.Main");
    let plain = || contents(&["com.acme:bank"], main);
    check_shaded(plain(), "com.acme.bank.Account", Application);
    check_shaded(plain(), "org.partner.Thing", Application);
    let shaded =
        || contents(&["com.acme:bank", "com.google.guava:guava", "com.acme.libs:util", "pool:pool"], main);
    check_shaded(shaded(), "com.acme.core.Account", Application);
    check_shaded(shaded(), "com.acme.libs.Util", Library);
    check_shaded(shaded(), "com.google.common.base.Joiner", Library);
    check_shaded(shaded(), "pool.Pool", Library);
    // A fat jar of Gradle has the metadata of its libraries, but none of the application.
    let foreign_only = || contents(&["com.google.guava:guava"], main);
    check_shaded(foreign_only(), "com.acme.core.Account", Application);
    check_shaded(foreign_only(), "com.google.common.base.Joiner", Library);
    let without_metadata = || contents(&[], main);
    check_shaded(without_metadata(), "com.acme.core.Account", Application);
    check_shaded(without_metadata(), "org.other.Thing", Library);
    check_shaded(without_metadata(), "Unnamed", Application);
    check_shaded(contents(&[], Some("bank.Main")), "bank.core.Account", Application);
    check_shaded(contents(&[], Some("bank.Main")), "scala.Option", Library);
    check_shaded(contents(&[], Some("Main")), "bank.Account", Application);
    check_shaded(contents(&["org.x:x"], Some("Main")), "org.x.Thing", Library);
    check_shaded(contents(&["org.x:x"], Some("Main")), "bank.Account", Application);
    check_shaded(contents(&[], None), "org.other.Thing", Application);
    let benchmarks = || contents(&["org.openjdk.jmh:jmh-core"], Some("org.openjdk.jmh.Main"));
    check_shaded(benchmarks(), "org.openjdk.jmh.runner.Runner", Library);
    check_shaded(benchmarks(), "com.acme.AccountBenchmark", Application);
    let runner = || contents(&[], Some("org.junit.platform.console.ConsoleLauncher"));
    check_shaded(runner(), "org.junit.platform.launcher.Launcher", Library);
    let boot = || Contents { has_own_folder: true, ..contents(&[], Some("org.springframework.X")) };
    check_shaded(boot(), "org.springframework.boot.loader.JarLauncher", Library);
}

#[test]
fn owners_are_recognized_by_package_prefixes() {
    fn check(package: &str, expected: &str) {
        assert_eq!(base_of(package), expected);
    }
    check("com.acme.bank.core", "com.acme");
    check("com.acme", "com.acme");
    check("bank.core", "bank");
    check("io.netty.buffer", "io.netty");
    check("org.apache.commons.pool2.impl", "org.apache.commons");
    check("org.apache", "org.apache");
}
