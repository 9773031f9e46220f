//! Bytes into lines.

use heapless::Vec;

/// A line as it comes in, at most `N` bytes without its line feed. Its memory
/// serves for the answer too.
#[derive(Debug)]
pub(crate) struct Line<const N: usize> {
    bytes: Vec<u8, N>,
    /// The line is over, its bytes may still be read.
    ended: bool,
    overlong: bool,
}

/// What a byte made of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The line goes on, or was blank.
    More,
    /// The line is whole.
    Whole,
    /// The line is over and had more bytes than there is room for.
    TooLong,
}

impl<const N: usize> Line<N> {
    pub fn new() -> Self {
        Self { bytes: Vec::new(), ended: false, overlong: false }
    }

    pub fn push(&mut self, byte: u8) -> Pushed {
        if self.ended {
            self.bytes.clear();
            self.ended = false;
            self.overlong = false;
        }
        if byte != b'\n' {
            // What does not fit is dropped up to the line feed.
            self.overlong |= self.bytes.push(byte).is_err();
            return Pushed::More;
        }
        self.ended = true;
        if self.overlong {
            Pushed::TooLong
        } else if self.bytes.iter().all(u8::is_ascii_whitespace) {
            Pushed::More
        } else {
            Pushed::Whole
        }
    }

    /// The bytes of the line.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of the memory, for the answer to a line that has been read.
    pub fn memory(&mut self) -> &mut [u8] {
        // Within the capacity, so it cannot fail.
        let _ = self.bytes.resize(N, 0);
        self.ended = true;
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn pushed(bytes: &[u8]) -> Vec<Pushed> {
        let mut line = Line::<4>::new();
        bytes.iter().map(|&byte| line.push(byte)).filter(|p| *p != Pushed::More).collect()
    }

    #[test]
    fn lines_end_at_line_feeds_and_blank_ones_are_none() {
        assert_eq!(pushed(b"ab\ncd\r\n"), [Pushed::Whole, Pushed::Whole]);
        assert_eq!(pushed(b"\n\r\n \t\n\n"), []);
        assert_eq!(pushed(b"ab"), []);
    }

    #[test]
    fn overlong_lines_are_dropped_to_their_end() {
        assert_eq!(pushed(b"abcd\n"), [Pushed::Whole]);
        assert_eq!(pushed(b"abcde\nab\n"), [Pushed::TooLong, Pushed::Whole]);
        assert_eq!(pushed(b"       \nabcdefghij\n"), [Pushed::TooLong, Pushed::TooLong]);
    }

    #[test]
    fn the_answer_does_not_mix_with_the_next_line() {
        let mut line = Line::<4>::new();
        line.push(b'a');
        assert_eq!(line.push(b'\n'), Pushed::Whole);
        assert_eq!(line.bytes(), b"a");
        line.memory().fill(b'x');
        assert_eq!((line.push(b'b'), line.bytes()), (Pushed::More, &b"b"[..]));
    }
}
