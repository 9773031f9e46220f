//! The command `koan` from the outside: files and arguments in, files, lines and
//! exit codes out.

mod bad_data;
mod bad_files;
mod common;
mod device;
mod export;
mod export_names;
mod export_programs;
mod fake_device;
mod formats;
mod methods;
mod models;
#[cfg(unix)]
mod outputs;
mod pages;
#[cfg(unix)]
mod pipes;
mod predictions;
mod recordings;
mod reports;
mod shrink;
mod signing;
mod streaming;
#[cfg(unix)]
mod terminal;
mod tuning;
mod weights;
