//! What `docs/protocol.md` says.

use std::string::String;

use koan::OwnedBuffers;

use super::Script;
use crate::Device;

koan::include_model!(mod digits = "../../../digits.koan");

const PAGE: &str = include_str!("../../../../docs/protocol.md");

/// With the sizes of `src/bin/serial.rs`.
const WORK: u32 = 1 << 20;
type Buffers = OwnedBuffers<128, 128, 128, 16>;
type Firmware = Device<Buffers, 1536, 128, 4096>;

#[test]
fn the_session_is_as_documented() {
    let block = PAGE.split_once("<!-- session -->\n```text\n").unwrap().1;
    let block = block.split_once("```").unwrap().0;
    let mut device = Firmware::new(digits::MODEL, Buffers::new(), WORK);
    let mut script = Script { bytes: b"", written: std::vec::Vec::new() };
    let mut session = String::new();
    device.greet(&mut script);
    for request in block.lines().filter_map(|line| line.strip_prefix("> ")) {
        session += &answered(&mut script);
        session += &std::format!("> {request}\n");
        let line = std::format!("{request}\n");
        let mut next = Script { bytes: line.as_bytes(), written: std::vec::Vec::new() };
        device.serve(&mut next);
        script.written = next.written;
    }
    session += &answered(&mut script);
    assert_eq!(session, block, "\n{session}");
}

fn answered(script: &mut Script<'_>) -> String {
    let written = String::from_utf8(core::mem::take(&mut script.written)).unwrap();
    written.lines().map(|line| std::format!("< {line}\n")).collect()
}

#[test]
fn the_firmwares_device_takes_the_documented_memory() {
    let documented = 11_392;
    assert!(PAGE.contains("11,392 bytes and less than 200"));
    assert_eq!(2 * 4096 + 1536 + 4 * 128 + size_of::<Buffers>(), documented);
    // The built-in model itself is a view; it counts as bookkeeping.
    let rest = size_of::<Firmware>() - documented;
    assert!(rest < 200, "{rest}");
}
