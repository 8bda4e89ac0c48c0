//! Puts the agent into the executable when `FISSURE_EMBED_AGENT` names its file, so that one file is all a user needs.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded_agent)");
    println!("cargo::rerun-if-env-changed=FISSURE_EMBED_AGENT");
    let Some(agent) = env::var_os("FISSURE_EMBED_AGENT").filter(|value| !value.is_empty()).map(PathBuf::from)
    else {
        return;
    };
    let agent = match agent.canonicalize() {
        Ok(agent) => agent,
        Err(error) => {
            println!(
                "cargo::error=FISSURE_EMBED_AGENT names {}, which cannot be read: {error}",
                agent.display()
            );
            return;
        }
    };
    println!("cargo::rerun-if-changed={}", agent.display());
    let Some(folder) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        println!("cargo::error=OUT_DIR is not set; build with Cargo");
        return;
    };
    match fs::copy(&agent, folder.join("agent.so")) {
        Ok(_) => println!("cargo::rustc-cfg=embedded_agent"),
        Err(error) => println!("cargo::error=cannot copy {}: {error}", agent.display()),
    }
}
