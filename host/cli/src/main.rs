//! The command `koan`.

fn main() -> std::process::ExitCode {
    koan_cli::run()
}
