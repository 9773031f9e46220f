//! Whatever comes in, every line is answered once and the device lives on.

use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::{LINE, answers, assert_alive, device};

/// Lines that are not blank, as the protocol counts them.
fn lines(bytes: &[u8]) -> usize {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    lines.pop();
    let blank = |line: &&[u8]| line.len() <= LINE && line.iter().all(u8::is_ascii_whitespace);
    lines.iter().filter(|line| !blank(line)).count()
}

/// Pieces of requests, whole and broken, and any bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::sample::select(std::vec![
        "\n",
        "\n",
        "\r\n",
        " ",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\"x\"",
        "{\"x\":[1,2",
        "{\"x\":[]}\n",
        "{\"x\":null}\n",
        "{\"x\":[1e999,-0,nan,null,1e-50]}\n",
        "{\"info\":true}\n",
        "{\"self_test\":true}\n",
        "{\"info\":",
        "{\"model\":{\"offset\":0,\"size\":",
        "4294967295",
        "99999999999999999999",
        "{\"model\":{\"offset\":0,\"size\":7,\"data\":\"S09BTg==\"}}\n",
        "{\"model\":{\"offset\":4,\"size\":7,\"data\":\"AQEA\"}}\n",
        ",\"data\":\"AAAA\"}}",
        "\\u0000",
        "{\"model\":{\"data\":\"AAAA\",\"size\":9,\"offset\":0,\"size\":3}}\n",
        "true",
        "1.5",
        "-",
        "e",
    ]);
    prop_oneof![
        4 => text.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => (0..2 * LINE, any::<u8>()).prop_map(|(length, byte)| std::vec![byte; length]),
    ]
}

proptest! {
    #![proptest_config(super::fixed(2000))]

    #[test]
    fn every_line_has_one_answer(pieces in prop::collection::vec(piece(), 0..30)) {
        let bytes = pieces.concat();
        let mut device = device();
        prop_assert_eq!(answers(&mut device, &bytes).len(), lines(&bytes));
        // An empty line ends what was left of the last one.
        answers(&mut device, "\n");
        assert_alive(&mut device);
    }

    #[test]
    fn any_bytes_in_any_portions(bytes in prop::collection::vec(any::<u8>(), 0..3000), cut in 0..3000usize) {
        let (mut whole, mut parts) = (device(), device());
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let mut portions = answers(&mut parts, first);
        portions.extend(answers(&mut parts, second));
        prop_assert_eq!(answers(&mut whole, &bytes), portions);
        answers(&mut whole, "\n");
        assert_alive(&mut whole);
    }

    /// A good row with one byte changed is answered, rightly or with an error.
    #[test]
    fn a_changed_byte(at in 0..150usize, byte in any::<u8>()) {
        let (row, _) = super::good_row();
        let mut bytes = row.into_bytes();
        bytes.push(b'\n');
        let at = at.min(bytes.len() - 2);
        bytes[at] = byte;
        let mut device = device();
        let answers = answers(&mut device, &bytes);
        prop_assert_eq!(answers.len(), lines(&bytes), "{}", String::from_utf8_lossy(&bytes));
        assert_alive(&mut device);
    }
}
