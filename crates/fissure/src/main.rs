//! The `fissure` executable; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    fissure::run(std::env::args_os())
}
