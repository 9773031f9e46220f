//! Lines of text that are not blank, with their numbers.

use std::io::BufRead;

use super::error::DataError;
use super::open::{Input, Origin};

/// Lines that are neither blank nor nothing but a comment.
pub(crate) struct Lines<'r> {
    /// Where they come from, for messages.
    pub origin: Origin,
    /// The number of the current line, from 1; 0 before the first.
    pub number: u64,
    reader: Box<dyn BufRead + 'r>,
    /// What a line that is a comment starts with, if the format has comments.
    comment: Option<u8>,
    buffer: Vec<u8>,
}

impl<'r> Lines<'r> {
    /// Lines of `input`; `comment` starts those to leave out.
    pub fn new(input: Input<'r>, comment: Option<u8>) -> Lines<'r> {
        let origin = input.origin.clone();
        Lines { origin, number: 0, reader: input.into_reader(), comment, buffer: Vec::new() }
    }

    /// Moves on to the next line, and tells its number.
    pub fn next(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            self.buffer.clear();
            let read = self.reader.read_until(b'\n', &mut self.buffer);
            if read.map_err(|e| self.origin.read_error(e))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.text().first().is_some_and(|&first| Some(first) != self.comment) {
                return Ok(Some(self.number));
            }
        }
    }

    /// The current line, trimmed.
    pub fn text(&self) -> &[u8] {
        self.buffer.trim_ascii()
    }

    /// What is wrong with the current line.
    pub fn malformed(&self, problem: &str) -> DataError {
        let place = self.origin.at(self.number);
        DataError::MalformedLine { place, problem: problem.to_owned() }
    }
}
