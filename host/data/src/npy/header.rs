//! The head of an array: what its elements are, its axes and their order.

use std::io::Read;

/// Bytes of a header, at most; those of plain arrays have some hundred.
const MAX_HEADER: usize = 1 << 16;
/// Brackets within each other, at most: the axes within the whole take two.
const MAX_NESTING: usize = 4;

/// What a header says.
#[derive(Debug, PartialEq)]
pub struct Header {
    pub element: Element,
    /// The first axis is the one that moves fastest.
    pub fortran: bool,
    pub shape: Vec<u64>,
}

/// How elements are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    pub kind: Kind,
    /// Bytes of each.
    pub size: usize,
    /// The most significant byte first.
    pub big: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Boolean,
    Signed,
    Unsigned,
    Float,
    /// Bytes of UTF-8, filled up with zeros.
    Bytes,
    /// Code points of four bytes, filled up with zeros.
    Points,
}

impl Element {
    /// The element that NumPy names so, as in `<f8`, if it can be read.
    fn parse(name: &str) -> Option<Element> {
        let mut letters = name.chars();
        let (order, letter) = (letters.next()?, letters.next()?);
        let number: usize = letters.as_str().parse().ok()?;
        let (kind, size) = match (letter, number) {
            ('b', 1) => (Kind::Boolean, number),
            ('i', 1 | 2 | 4 | 8) => (Kind::Signed, number),
            ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, number),
            ('f', 4 | 8) => (Kind::Float, number),
            ('S' | 'a', 1..) => (Kind::Bytes, number),
            ('U', 1..) => (Kind::Points, number.checked_mul(4)?),
            _ => return None,
        };
        // Only where there is a single byte is its order nothing to tell.
        let ordered = letter == 'U' || size > 1 && kind != Kind::Bytes;
        match order {
            '<' | '>' => Some(Element { kind, size, big: order == '>' }),
            '|' if !ordered => Some(Element { kind, size, big: false }),
            _ => None,
        }
    }
}

/// Reads a header and nothing after it.
pub fn read(mut reader: impl Read) -> Result<Header, String> {
    const CUT: &str = "the file ends within the header";
    let mut bytes = |count: usize| {
        let mut read = Vec::new();
        match (&mut reader).take(count as u64).read_to_end(&mut read) {
            Ok(_) if read.len() == count => Ok(read),
            Ok(_) => Err(CUT.to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    let start = bytes(8)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err("it does not begin as arrays do".into());
    }
    // The length has 2 bytes, from version 2 on 4.
    let width = match start[6..] {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        _ => return Err(format!("a header of version {}.{}", start[6], start[7])),
    };
    let length =
        bytes(width)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    if length > MAX_HEADER {
        return Err(format!("a header of {length} bytes; at most {MAX_HEADER} are read"));
    }
    let text = String::from_utf8(bytes(length)?).map_err(|_| "a header that is no text")?;
    understand(&text)
}

fn understand(text: &str) -> Result<Header, String> {
    let mut literal = Literal { rest: text, depth: 0 };
    let Value::Entries(entries) = literal.value()? else {
        return Err("a header that is no dictionary".into());
    };
    literal.skip_space();
    if !literal.rest.is_empty() {
        return Err("a header with more than a dictionary".into());
    }
    let entry = |name: &str| {
        let found = entries.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value).ok_or_else(|| format!("a header without `{name}`"))
    };
    let fortran = match entry("fortran_order")? {
        Value::Boolean(fortran) => *fortran,
        _ => return Err("`fortran_order` is neither True nor False".into()),
    };
    let Value::List(axes) = entry("shape")? else {
        return Err("`shape` is no list".into());
    };
    let shape: Option<Vec<u64>> = axes
        .iter()
        .map(|axis| if let Value::Number(axis) = axis { Some(*axis) } else { None })
        .collect();
    let element = match entry("descr")? {
        Value::Text(name) => Element::parse(name).ok_or_else(|| {
            format!(
                "elements of type '{name}'; booleans, integers, 32- and 64-bit floats and texts \
                 are read"
            )
        })?,
        _ => return Err("a structured array; plain arrays are read".into()),
    };
    Ok(Header { element, fortran, shape: shape.ok_or("`shape` has more than numbers")? })
}

/// A value as Python writes it.
enum Value {
    Text(String),
    Boolean(bool),
    Number(u64),
    List(Vec<Value>),
    Entries(Vec<(String, Value)>),
}

/// What is left to read of a header.
struct Literal<'t> {
    rest: &'t str,
    depth: usize,
}

impl Literal<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// Goes past `mark` and the space before it, if it comes next.
    fn take(&mut self, mark: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Result<Value, String> {
        for (word, value) in [("True", true), ("False", false)] {
            if self.take(word) {
                return Ok(Value::Boolean(value));
            }
        }
        for (open, close) in [("{", "}"), ("(", ")"), ("[", "]")] {
            if self.take(open) {
                self.depth += 1;
                if self.depth > MAX_NESTING {
                    return Err(format!(
                        "a header of more than {MAX_NESTING} brackets within each other"
                    ));
                }
                let inner = if open == "{" { self.entries()? } else { self.list(close)? };
                self.depth -= 1;
                return Ok(inner);
            }
        }
        if self.rest.starts_with(['\'', '"']) {
            return self.text().map(Value::Text);
        }
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        let problem = || format!("a header that cannot be read at `{:.20}`", self.rest);
        let number = number.parse().map_err(|_| problem())?;
        self.rest = rest;
        Ok(Value::Number(number))
    }

    /// What is between quotes; a backslash takes the character after it along.
    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut letters = self.rest.chars();
        let quote = letters.next();
        loop {
            match letters.next() {
                None => return Err("a header with a quote that does not end".into()),
                end if end == quote => break,
                Some('\\') => text.extend(letters.next()),
                Some(letter) => text.push(letter),
            }
        }
        self.rest = letters.as_str();
        Ok(text)
    }

    fn list(&mut self, close: &str) -> Result<Value, String> {
        let mut values = Vec::new();
        while !self.take(close) {
            values.push(self.value()?);
            self.separator(close)?;
        }
        Ok(Value::List(values))
    }

    fn entries(&mut self) -> Result<Value, String> {
        let mut entries = Vec::new();
        while !self.take("}") {
            let Value::Text(key) = self.value()? else {
                return Err("a header with a key that is no text".into());
            };
            if !self.take(":") {
                return Err(format!("a header with no value of `{key}`"));
            }
            entries.push((key, self.value()?));
            self.separator("}")?;
        }
        Ok(Value::Entries(entries))
    }

    /// A comma, which may be left out before the end.
    fn separator(&mut self, close: &str) -> Result<(), String> {
        self.skip_space();
        if self.take(",") || self.rest.starts_with(close) {
            return Ok(());
        }
        Err(format!("a header that cannot be read at `{:.20}`", self.rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let header = |element, fortran, shape: &[u64]| {
            Ok(Header { element, fortran, shape: shape.to_vec() })
        };
        let element = |kind, size, big| Element { kind, size, big };
        for (text, expected) in [
            (
                "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }          \n",
                header(element(Kind::Float, 8, false), false, &[2, 3]),
            ),
            (
                "{'descr': '>i2', 'fortran_order': True, 'shape': (7,), }\n",
                header(element(Kind::Signed, 2, true), true, &[7]),
            ),
            (
                "{'shape': (), 'fortran_order': False, 'descr': '|b1'}",
                header(element(Kind::Boolean, 1, false), false, &[]),
            ),
            (
                "{\"descr\":\"<U5\",\"fortran_order\":False,\"shape\":[18446744073709551615]}",
                header(element(Kind::Points, 20, false), false, &[u64::MAX]),
            ),
            (
                "{'descr': '|S3', 'fortran_order': False, 'shape': (1,), 'a\\'{{{{{{': 'b\\\\'}",
                header(element(Kind::Bytes, 3, false), false, &[1]),
            ),
        ] {
            assert_eq!(understand(text), expected, "{text}");
        }
    }

    #[test]
    fn headers_that_are_refused() {
        let with = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}")
        };
        for (text, problem) in [
            (with("[('a', '<f8'), ('b', '<i4', (2,))]", "(2,)"), "a structured array"),
            (with("'<f2'", "(2,)"), "elements of type '<f2'"),
            (with("'<i16'", "(2,)"), "elements of type '<i16'"),
            (with("'|O'", "(2,)"), "elements of type '|O'"),
            (with("'|i4'", "(2,)"), "elements of type '|i4'"),
            (with("'|U4'", "(2,)"), "elements of type '|U4'"),
            // As many of them as one likes need no bytes at all.
            (with("'|S0'", "(1099511627776, 2)"), "elements of type '|S0'"),
            (with("'<U0'", "(2,)"), "elements of type '<U0'"),
            (with("'<U18446744073709551615'", "(2,)"), "elements of type"),
            (with("'<M8[ns]'", "(2,)"), "elements of type '<M8[ns]'"),
            (with("'é'", "(2,)"), "elements of type 'é'"),
            (with("'<f8'", "(2, (3,))"), "`shape` has more than numbers"),
            (with("'<f8'", "('2',)"), "`shape` has more than numbers"),
            (with("'<f8'", "2"), "`shape` is no list"),
            (with("'<f8'", "(-1,)"), "a header that cannot be read at `-1,)}`"),
            (with("'<f8'", "(1.5,)"), "a header that cannot be read at `.5,)}`"),
            (with("'<f8'", "(2 3)"), "a header that cannot be read at `3)}`"),
            (with("'<f8'", "(18446744073709551616,)"), "a header that cannot be read"),
            (with("'<f8'", "(,)"), "a header that cannot be read at `,)}`"),
            (with("'<f8'", "(2,)") + ", 1", "a header with more than a dictionary"),
            ("{'descr': '<f8', 'shape': (2,)}".into(), "a header without `fortran_order`"),
            ("{'fortran_order': 1, 'shape': (2,)}".into(), "`fortran_order` is neither"),
            ("{'fortran_order': True}".into(), "a header without `shape`"),
            ("{'fortran_order': True, 'shape': []}".into(), "a header without `descr`"),
            ("{1: 2}".into(), "a header with a key that is no text"),
            ("{'a' 2}".into(), "a header with no value of `a`"),
            ("{'a".into(), "a header with a quote that does not end"),
            ("{'a\\".into(), "a header with a quote that does not end"),
            ("{".into(), "a header that cannot be read at ``"),
            ("('a',)".into(), "a header that is no dictionary"),
            (String::new(), "a header that cannot be read at ``"),
            ("日".repeat(30), "a header that cannot be read at `日"),
            ("{".repeat(60_000), "a header of more than 4 brackets"),
            ("(".repeat(60_000), "a header of more than 4 brackets"),
        ] {
            let found = understand(&text).unwrap_err();
            assert!(found.starts_with(problem), "{text:.80}: {found}");
        }
    }
}
