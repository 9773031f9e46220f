//! The command `koan`.

/// The largest allocation whose return glibc learns from.
const LEARNT: usize = (32 << 20) - (64 << 10);

fn main() -> std::process::ExitCode {
    // glibc gives large memory back to the system and asks for it again, matrix after
    // matrix, which was a third of the time of a training; when one of this size is given
    // back it keeps twice as much from then on.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LEARNT)));
    koan_cli::run()
}
