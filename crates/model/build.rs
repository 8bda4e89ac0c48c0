//! Hashes the sources of this crate. They define the settings and records that the command line and a front end exchange, so equal hashes
//! mean that both understand each other.

use std::{
    env, fs,
    hash::{DefaultHasher, Hasher},
    io,
    path::{Path, PathBuf},
};

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut files = Vec::new();
    if let Err(error) = collect(Path::new("src"), &mut files) {
        println!("cargo::error=the sources cannot be listed: {error}");
        return;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    hasher.write(env::var("CARGO_PKG_VERSION").unwrap_or_default().as_bytes());
    for file in files {
        match fs::read(&file) {
            Ok(bytes) => hasher.write(&bytes),
            Err(error) => println!("cargo::error={} cannot be read: {error}", file.display()),
        }
    }
    println!("cargo::rustc-env=FISSURE_FORMAT={:016x}", hasher.finish());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
