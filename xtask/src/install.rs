//! Installs Fissure as one executable with the agent embedded.

use anyhow::{Result, bail};

use crate::workspace::{agent_file, cargo, succeed, target};

/// Builds the agent, then the executable that embeds it.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let root = match options {
        [] => None,
        ["--root", folder] => Some(std::path::absolute(folder)?),
        other => bail!("unknown option '{}': cargo xtask install [--root DIR]", other.join(" ")),
    };
    succeed(&mut cargo(&["build", "--release", "--package", "fissure-jvm"]))?;
    let agent = target()?.join("release").join(agent_file());
    let mut install = cargo(&["install", "--locked", "--force", "--path", "crates/fissure"]);
    install.env("FISSURE_EMBED_AGENT", &agent);
    if let Some(root) = root {
        install.arg("--root").arg(root);
    }
    succeed(&mut install)
}
