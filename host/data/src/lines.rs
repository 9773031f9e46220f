//! Lines of text with their numbers, of bounded length.

use std::io::{BufRead, Read};

use super::MAX_LINE;
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
    /// Nothing follows a line that was too long.
    ended: bool,
}

impl<'r> Lines<'r> {
    /// Lines of `input`; `comment` starts those to leave out.
    pub fn new(input: Input<'r>, comment: Option<u8>) -> Lines<'r> {
        let origin = input.origin.clone();
        let (reader, buffer) = (input.into_reader(), Vec::new());
        Lines { origin, number: 0, reader, comment, buffer, ended: false }
    }

    /// Moves on to the next line, and tells its number.
    pub fn next(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            self.buffer.clear();
            if !self.append()? {
                return Ok(None);
            }
            if self.text().first().is_some_and(|&first| Some(first) != self.comment) {
                return Ok(Some(self.number));
            }
        }
    }

    /// Adds another line, of whatever kind, to the current one; whether there is one.
    pub fn append(&mut self) -> Result<bool, DataError> {
        if self.ended {
            return Ok(false);
        }
        let before = self.buffer.len();
        // One byte more tells a line that is too long from the longest.
        let room = (MAX_LINE + 1).saturating_sub(before) as u64;
        let read = (&mut self.reader).take(room).read_until(b'\n', &mut self.buffer);
        if read.map_err(|e| self.origin.read_error(e))? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.buffer.len() > MAX_LINE {
            // The rest of it is not looked for.
            (self.buffer, self.ended) = (Vec::new(), true);
            return Err(DataError::LineTooLong { place: self.origin.at(self.number) });
        }
        Ok(true)
    }

    /// The current line, trimmed.
    pub fn text(&self) -> &[u8] {
        self.buffer.trim_ascii()
    }

    /// The current line as it is, with its end.
    pub fn raw(&self) -> &[u8] {
        &self.buffer
    }

    /// What is wrong with the current line.
    pub fn malformed(&self, problem: &str) -> DataError {
        let place = self.origin.at(self.number);
        DataError::MalformedLine { place, problem: problem.to_owned() }
    }
}
