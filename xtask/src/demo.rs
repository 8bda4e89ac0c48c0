//! Builds Fissure, and runs it on an example with a race and on its correct twin.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{
    jdk,
    workspace::{cargo, fresh_folder, line, root, succeed, target},
};

const EXAMPLE: &str = "com.acme.bank.Transfer";
const TWIN: &str = "com.acme.bank.TransferFixed";

/// Runs the demonstration.
pub(crate) fn run() -> Result<()> {
    let jdk = jdk::set_up()?;
    println!("building Fissure");
    succeed(&mut cargo(&["build", "--release"]))?;
    let sources = root().join("programs/race/pkg");
    let classes = fresh_folder("demo")?;
    let mut javac = jdk.tool("javac");
    javac.args(["--release", "11", "-g", "-d"]).arg(&classes);
    succeed(javac.args([sources.join("Transfer.java"), sources.join("TransferFixed.java")]))?;
    for (class, expected) in [(EXAMPLE, 1), (TWIN, 0)] {
        let mut fissure = Command::new(target()?.join("release/fissure"));
        fissure.arg("detect").arg("--sources").arg(&sources).arg("--");
        fissure.arg(jdk.bin().join("java")).arg("-cp").arg(&classes).arg(class);
        println!("\n$ {}\n", line(&fissure));
        let status = fissure.status().context("cannot start fissure")?;
        if status.code() != Some(expected) {
            bail!("expected exit code {expected} for {class}, but it was: {status}");
        }
    }
    println!(
        "\nThe first program locks only one of its two accounts, the second both: see {}",
        sources.display()
    );
    Ok(())
}
