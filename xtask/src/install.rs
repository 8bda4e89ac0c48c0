//! Installs Fissure as one executable with the agent embedded.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::workspace::{agent_file, cargo, succeed, target};

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder whose `bin` takes the executable, instead of Cargo's
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Builds the agent, then the executable that embeds it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = options.root.as_ref().map(std::path::absolute).transpose()?;
    succeed(&mut cargo(&["build", "--release", "--package", "fissure-jvm"]))?;
    let agent = target()?.join("release").join(agent_file());
    let mut install = cargo(&["install", "--locked", "--force", "--path", "crates/fissure"]);
    install.env("FISSURE_EMBED_AGENT", &agent);
    if let Some(root) = root {
        install.arg("--root").arg(root);
    }
    succeed(&mut install)
}
