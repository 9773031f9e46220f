//! Opens data files: decompresses gzip and tells the formats apart by content.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::{ColumnLabel, DataError, Place};
use super::schema::Format;

/// Bytes looked at, at most, to tell the format and the delimiter.
const HEAD: usize = 1 << 16;

/// Where data comes from, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub file: String,
    gzip: bool,
}

impl Origin {
    pub fn at(&self, line: u64) -> Place {
        Place { file: self.file.clone(), line, column: None }
    }

    pub fn at_column(&self, line: u64, column: ColumnLabel) -> Place {
        Place { column: Some(column), ..self.at(line) }
    }

    /// A failed read as an error of the data.
    pub fn read_error(&self, source: io::Error) -> DataError {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let file = self.file.clone();
        if self.gzip && matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof) {
            DataError::CorruptGzip { file, source }
        } else {
            DataError::Unreadable { file, source }
        }
    }
}

/// An opened, decompressed input and its first bytes.
pub(crate) struct Input<'r> {
    pub origin: Origin,
    /// The first bytes, also still to come from `reader`.
    pub head: Vec<u8>,
    pub reader: Box<dyn BufRead + 'r>,
}

impl Input<'static> {
    pub fn open(path: &Path) -> Result<Input<'static>, DataError> {
        let file = path.display().to_string();
        match File::open(path) {
            Ok(opened) => Input::new(opened, &file),
            Err(source) => Err(DataError::Unreadable { file, source }),
        }
    }
}

impl<'r> Input<'r> {
    /// Fails on an empty input; takes no more of a slow stream than its first
    /// line that is not blank.
    pub fn new(source: impl Read + 'r, file: &str) -> Result<Input<'r>, DataError> {
        let mut origin = Origin { file: file.to_string(), gzip: false };
        let mut source = BufReader::with_capacity(HEAD, source);
        let mut magic = Vec::new();
        (&mut source).take(2).read_to_end(&mut magic).map_err(|e| origin.read_error(e))?;
        origin.gzip = magic == [0x1f, 0x8b];
        let source = Cursor::new(magic).chain(source);
        let mut reader: Box<dyn BufRead + 'r> = if origin.gzip {
            let decoder = MultiGzDecoder::new(source);
            Box::new(BufReader::with_capacity(HEAD, decoder))
        } else {
            Box::new(source)
        };

        let mut head = Vec::new();
        let mut enough = false;
        while head.len() < HEAD && !enough {
            let chunk = match reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(origin.read_error(e)),
            };
            if chunk.is_empty() {
                break;
            }
            let (taken, line_ends) = (chunk.len(), chunk.contains(&b'\n'));
            head.extend_from_slice(chunk);
            reader.consume(taken);
            enough = line_ends && has_line(&head);
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        if head.trim_ascii().is_empty() {
            return Err(DataError::Empty { file: origin.file });
        }
        let reader = Box::new(Cursor::new(head.clone()).chain(reader));
        Ok(Input { origin, head, reader })
    }

    /// The format, by the first bytes.
    pub fn format(&self) -> Format {
        if self.head.starts_with(&[0, 0]) {
            return Format::Idx;
        }
        let lines = self.head.split_inclusive(|&byte| byte == b'\n');
        // A line cut off at the end of the head may stop inside a token.
        let whole = lines.filter(|line| line.ends_with(b"\n") || self.head.len() < HEAD);
        for line in whole.take(100) {
            match svmlight_line(line) {
                Some(true) => return Format::Svmlight,
                Some(false) => return Format::Csv,
                None => {}
            }
        }
        Format::Csv
    }

    /// The first line that is not blank, as far as the head holds it.
    pub fn first_line(&self) -> &[u8] {
        let mut lines = self.head.split(|&byte| byte == b'\n');
        lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default()
    }
}

/// Whether a whole line that is neither blank nor a comment has been read.
fn has_line(head: &[u8]) -> bool {
    head.split_inclusive(|&byte| byte == b'\n').any(|line| {
        let text = line.trim_ascii();
        line.ends_with(b"\n") && !text.is_empty() && !text.starts_with(b"#")
    })
}

/// Whether a line is svmlight; `None` where it could be either: blank, a
/// comment, or a single token, which may be a label without values.
fn svmlight_line(line: &[u8]) -> Option<bool> {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let label = tokens.next()?;
    let mut tokens = tokens.peekable();
    if tokens.peek().is_none() {
        return if label.iter().any(|byte| b",;:\"".contains(byte)) {
            Some(is_pair(label))
        } else {
            None
        };
    }
    Some(tokens.all(is_pair))
}

/// Whether a token is `index:value` or `qid:number`.
fn is_pair(token: &[u8]) -> bool {
    let Ok(token) = std::str::from_utf8(token) else {
        return false;
    };
    token.split_once(':').is_some_and(|(index, value)| {
        let counted = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        (counted || index == "qid") && value.parse::<f64>().is_ok()
    })
}
