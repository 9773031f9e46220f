//! Opens data files: decompresses gzip and tells the formats apart by content.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::ReadOptions;
use super::error::{ColumnLabel, DataError, Place};
use super::schema::Format;

/// Bytes looked at, at most, to tell the format and the delimiter.
const HEAD: usize = 1 << 16;

/// Where data comes from, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub file: String,
    gzip: bool,
    /// Of several files read as one: each file's name and the number of lines
    /// before it.
    parts: Vec<(u64, String)>,
}

impl Origin {
    /// Several files, whose lines count on from one to the next: each with the
    /// number of lines before it.
    pub fn several(parts: Vec<(u64, String)>) -> Origin {
        let file = match &parts[..] {
            [(_, only)] => only.clone(),
            [(_, first), rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        };
        Origin { file, gzip: false, parts }
    }

    pub fn at(&self, line: u64) -> Place {
        let part = self.parts.iter().rev().find(|(before, _)| *before < line);
        let (before, file) = part.map_or((0, &self.file), |(before, file)| (*before, file));
        Place { file: file.clone(), line: line - before, column: None }
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

/// A file to be read: on the disk, or in memory.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    /// Where it is, or what it is called.
    pub path: PathBuf,
    /// What it holds, if it is in memory.
    pub bytes: Option<Arc<[u8]>>,
}

impl DataFile {
    /// Files on the disk.
    pub fn on_disk(paths: &[PathBuf]) -> Vec<DataFile> {
        paths.iter().map(|path| DataFile { path: path.clone(), bytes: None }).collect()
    }

    pub fn open(&self) -> Result<Input<'static>, DataError> {
        match &self.bytes {
            Some(bytes) => Input::new(Cursor::new(bytes.clone()), &self.path.display().to_string()),
            None => Input::open(&self.path),
        }
    }
}

/// An opened, decompressed input and its first bytes.
pub(crate) struct Input<'r> {
    pub origin: Origin,
    /// The first bytes.
    pub head: Vec<u8>,
    rest: Box<dyn BufRead + 'r>,
    /// The file, if it is one and not compressed.
    path: Option<PathBuf>,
}

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// Delimited text, or anything else.
    Text,
    Svmlight,
    Idx,
    Arff,
    Proben1,
    Npy,
    Npz,
    Parquet,
}

impl Container {
    /// The format that it is one of.
    pub fn format(self) -> Format {
        match self {
            Container::Svmlight => Format::Svmlight,
            Container::Idx => Format::Idx,
            _ => Format::Csv,
        }
    }

    fn described(self) -> &'static str {
        match self {
            Container::Text => Format::Csv.described(),
            Container::Svmlight => Format::Svmlight.described(),
            Container::Idx => Format::Idx.described(),
            Container::Arff => "an ARFF file",
            Container::Proben1 => "a PROBEN1 file",
            Container::Npy => "an npy array",
            Container::Npz => "an npz archive",
            Container::Parquet => "a Parquet file",
        }
    }
}

/// Refuses options that files of the kind do not know.
pub(crate) fn check_options(
    file: &str,
    container: Container,
    options: &ReadOptions,
) -> Result<(), DataError> {
    let labelled = matches!(container, Container::Idx | Container::Npy);
    let archive = container == Container::Npz;
    let unknown = [
        ("labels", "idx images and npy arrays", options.labels.is_some() && !labelled),
        ("arrays", "npz archives", !options.arrays.is_empty() && !archive),
    ];
    match unknown.into_iter().find(|(_, _, unknown)| *unknown) {
        Some((option, needs, _)) => {
            let (file, format) = (file.to_owned(), container.described());
            Err(DataError::OptionNeeds { file, option, needs, format })
        }
        None => match options.delimiter {
            Some(b'\n' | b'\r' | b'"') => {
                let problem = "neither a line's end nor a quote can be the delimiter";
                Err(DataError::Contradiction { problem, options: &["delimiter"] })
            }
            _ => Ok(()),
        },
    }
}

impl Input<'static> {
    pub fn open(path: &Path) -> Result<Input<'static>, DataError> {
        let file = path.display().to_string();
        match File::open(path) {
            Ok(opened) => {
                let mut input = Input::new(opened, &file)?;
                input.path = (!input.origin.gzip).then(|| path.to_owned());
                Ok(input)
            }
            Err(source) => Err(DataError::Unreadable { file, source }),
        }
    }
}

impl<'r> Input<'r> {
    /// Fails on an empty input; takes no more of a slow stream than its first
    /// line that is not blank.
    pub fn new(source: impl Read + 'r, file: &str) -> Result<Input<'r>, DataError> {
        let mut origin = Origin { file: file.to_string(), gzip: false, parts: Vec::new() };
        let mut source = BufReader::with_capacity(HEAD, source);
        let mut magic = Vec::new();
        (&mut source).take(2).read_to_end(&mut magic).map_err(|e| origin.read_error(e))?;
        origin.gzip = magic == [0x1f, 0x8b];
        // What is there already: the magic's bytes and those that were read with them.
        let there = if origin.gzip { 0 } else { magic.len() + source.buffer().len() };
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
            enough = line_ends && head.len() >= there && has_line(&head);
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        const UNREAD: [(&[u8], &str); 7] = [
            (b"\xfd7zXZ\0", "compressed with xz"),
            (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
            (b"\x04\x22\x4d\x18", "compressed with lz4"),
            (b"\x1f\x9d", "compressed with compress"),
            (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
            (b"\xff\xfe", "UTF-16 text"),
            (b"\xfe\xff", "UTF-16 text"),
        ];
        let what = match head[..] {
            // The size of blocks, then the first byte of a block or of the end.
            [b'B', b'Z', b'h', b'1'..=b'9', b'1' | 0x17, ..] => Some("compressed with bzip2"),
            // Of letters of ASCII every second byte is 0.
            [a, b, c, d, ..] if (a == 0) != (b == 0) && [a == 0, b == 0] == [c == 0, d == 0] => {
                Some("UTF-16 text")
            }
            _ => UNREAD.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what),
        };
        if let Some(what) = what {
            return Err(DataError::NotRead { file: origin.file, what });
        }
        if head.trim_ascii().is_empty() {
            return Err(DataError::Empty { file: origin.file });
        }
        if is_json(&head) {
            let problem = "JSON, which is not read: save it as CSV".to_owned();
            return Err(DataError::Malformed { file: origin.file, problem });
        }
        Ok(Input { origin, head, rest: reader, path: None })
    }

    /// All of it, from the start.
    pub fn into_reader(self) -> Box<dyn BufRead + 'r> {
        Box::new(Cursor::new(self.head).chain(self.rest))
    }

    /// All of it for formats that are not read from front to back: the file
    /// itself, or what a stream or a compressed file held, in memory.
    pub fn into_seekable(self) -> Result<Seekable, DataError> {
        let origin = self.origin.clone();
        if let Some(path) = &self.path {
            return File::open(path).map(Seekable::File).map_err(|e| origin.read_error(e));
        }
        let mut bytes = Vec::new();
        self.into_reader().read_to_end(&mut bytes).map_err(|e| origin.read_error(e))?;
        Ok(Seekable::Memory(bytes))
    }

    /// What kind of file it is, by the first bytes; lines that begin with
    /// `comment` do not count.
    pub fn container(&self, comment: Option<u8>) -> Container {
        const MAGIC: [(&[u8], Container); 4] = [
            (&[0, 0], Container::Idx),
            (b"\x93NUMPY", Container::Npy),
            (b"PK\x03\x04", Container::Npz),
            (b"PAR1", Container::Parquet),
        ];
        if let Some(&(_, container)) = MAGIC.iter().find(|(magic, _)| self.head.starts_with(magic))
        {
            return container;
        }
        let starts = |line: &[u8], word: &[u8]| {
            line.len() >= word.len() && line[..word.len()].eq_ignore_ascii_case(word)
        };
        // Comments of arff begin with a percent sign.
        let mut lines = self.lines(comment).map(<[u8]>::trim_ascii);
        match lines.find(|line| !line.starts_with(b"%")) {
            Some(line) if starts(line, b"@relation") || starts(line, b"@attribute") => {
                return Container::Arff;
            }
            Some(line) if starts(line, b"bool_in=") || starts(line, b"real_in=") => {
                return Container::Proben1;
            }
            _ => {}
        }
        match self.text(comment) {
            Some(Format::Svmlight) => Container::Svmlight,
            _ => Container::Text,
        }
    }

    /// Which of the two kinds of text it is; `None` where it could be either.
    pub fn text(&self, comment: Option<u8>) -> Option<Format> {
        let lines = self.head.split_inclusive(|&byte| byte == b'\n');
        // A line cut off at the end of the head may stop inside a token.
        let whole = lines.filter(|line| line.ends_with(b"\n") || self.head.len() < HEAD);
        let whole = whole.filter(|line| comment.is_none() || line.first().copied() != comment);
        for line in whole.take(100) {
            match svmlight_line(line) {
                Some(true) => return Some(Format::Svmlight),
                Some(false) => return Some(Format::Csv),
                None => {}
            }
        }
        None
    }

    /// The lines that are neither blank nor comments, as far as the head holds
    /// them.
    pub fn lines(&self, comment: Option<u8>) -> impl Iterator<Item = &[u8]> {
        let lines = self.head.split(|&byte| byte == b'\n');
        lines.filter(move |line| {
            let comment = comment.is_some() && line.first().copied() == comment;
            !comment && !line.trim_ascii().is_empty()
        })
    }
}

/// An input that can be read in any order.
pub(crate) enum Seekable {
    File(File),
    Memory(Vec<u8>),
}

/// Whether a text begins as objects of JSON do, or lists of them.
fn is_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let first = head.strip_prefix(b"[").unwrap_or(head).trim_ascii_start();
    // The first line may be all that is there.
    let cut = head.len() < 4 && matches!(head.trim_ascii(), b"[" | b"{" | b"[{");
    cut || first.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
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
