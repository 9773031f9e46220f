//! esp-hal brings its own linker script.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Tlinkall.x");
}
