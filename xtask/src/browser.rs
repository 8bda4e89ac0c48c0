//! Tests the HTML report in a real browser, which is installed if there is none.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use fissure_testing::{Recorded, write_record};

use crate::{
    jdk::{find_program, install_other},
    workspace::{cargo, fresh_folder, succeed},
};

/// Names under which Chromium and Chrome are installed.
const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// Paths on systems that do not put it on the search path.
const FIXED_PATHS: [&str; 2] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const PACKAGES: [(&str, &[&str]); 6] = [
    ("apt-get", &["chromium", "chromium-browser"]),
    ("dnf", &["chromium-headless", "chromium"]),
    ("pacman", &["chromium"]),
    ("zypper", &["chromium"]),
    ("apk", &["chromium"]),
    ("brew", &["chromium"]),
];

const ADVICE: &str = "install Chromium and put it on PATH, or name it in FISSURE_CHROMIUM";

/// Runs the tests that need a browser. Screenshots stay in the target folder. Without a browser this task fails, and the step of
/// `cargo xtask test` is skipped.
pub(crate) fn run() -> Result<()> {
    let browser = match find_or_install() {
        Ok(browser) => browser,
        Err(error) => {
            let recorded = Recorded {
                name: "browser".to_owned(),
                time: Duration::ZERO,
                skipped: Some(format!("there is no Chromium: {error:#}")),
            };
            return if write_record(&recorded) { Ok(()) } else { Err(error) };
        }
    };
    let screenshots = fresh_folder("browser")?;
    // With `--package`, dependencies would have other features and be built again.
    let mut tests = cargo(&["test", "--workspace", "--test", "browser", "--", "--ignored"]);
    tests.env("FISSURE_CHROMIUM", &browser).env("FISSURE_SCREENSHOTS", &screenshots);
    succeed(&mut tests)?;
    println!("screenshots are in {}", screenshots.display());
    Ok(())
}

fn find_or_install() -> Result<PathBuf> {
    if let Some(browser) = find() {
        return Ok(browser);
    }
    println!("found no Chromium through FISSURE_CHROMIUM or PATH");
    install_other(&PACKAGES).with_context(|| format!("installing Chromium did not work; {ADVICE}"))?;
    find().with_context(|| format!("Chromium was installed, but is still not found; {ADVICE}"))
}

fn find() -> Option<PathBuf> {
    env::var_os("FISSURE_CHROMIUM")
        .map(PathBuf::from)
        .into_iter()
        .chain(find_program(&NAMES))
        .chain(FIXED_PATHS.iter().map(PathBuf::from))
        .find(|path| Path::is_file(path))
}
