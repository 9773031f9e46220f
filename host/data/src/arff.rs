//! ARFF, the format of Weka: a header that declares the attributes, then rows
//! between commas, dense or sparse.

use super::error::{ColumnLabel, DataError};
use super::fill::list;
use super::lines::Lines;
use super::open::Input;
use super::records::{Known, Record, Source};

/// The lines of an ARFF file from `@data` on.
pub(crate) struct Arff<'r> {
    lines: Lines<'r>,
    /// What a sparse row means where it says nothing: 0, or the first nominal.
    defaults: Vec<Vec<u8>>,
    /// The values that each attribute may have, ascending; none where any will do.
    declared: Vec<Option<Vec<Vec<u8>>>>,
    names: Vec<String>,
    tokens: Record,
}

impl<'r> Arff<'r> {
    /// Reads the header.
    pub fn open(input: Input<'r>) -> Result<(Known, Box<dyn Source + 'r>), DataError> {
        let mut lines = Lines::new(input, Some(b'%'));
        let (mut known, mut defaults, mut declared) = (Known::default(), Vec::new(), Vec::new());
        loop {
            if lines.next()?.is_none() {
                return Err(lines.malformed("the file ends before `@data`"));
            }
            let line = String::from_utf8_lossy(lines.text()).into_owned();
            let (word, rest) = line.split_once([' ', '\t']).unwrap_or((&line, ""));
            if word.eq_ignore_ascii_case("@relation") {
                continue;
            }
            if word.eq_ignore_ascii_case("@data") {
                break;
            }
            if !word.eq_ignore_ascii_case("@attribute") {
                return Err(lines.malformed(&format!("`{word}` is no ARFF declaration")));
            }
            let attribute = Attribute::parse(rest.trim()).map_err(|p| lines.malformed(&p))?;
            known.names.push(attribute.name);
            known.text.push(attribute.text);
            defaults.push(attribute.default);
            declared.push(attribute.values);
        }
        if known.names.is_empty() {
            return Err(lines.malformed("no `@attribute` before `@data`"));
        }
        let (names, tokens) = (known.names.clone(), Record::default());
        Ok((known, Box::new(Arff { lines, defaults, declared, names, tokens })))
    }

    /// A sparse row, `{index value, …}` with indices from 0.
    fn sparse(&mut self, record: &mut Record) -> Result<(), DataError> {
        let text = self.lines.text();
        let inner = &text[1..text.len() - usize::from(text.ends_with(b"}"))];
        if !text.ends_with(b"}") {
            return Err(self.lines.malformed("a sparse row without its closing brace"));
        }
        tokens(inner, &mut self.tokens).map_err(|p| self.lines.malformed(p))?;
        let mut entries = Vec::new();
        for range in &self.tokens.fields {
            let token = &self.tokens.bytes[range.clone()];
            if token.is_empty() && self.tokens.fields.len() == 1 {
                continue;
            }
            let split = token.iter().position(u8::is_ascii_whitespace);
            let entry = split.and_then(|at| {
                let index = std::str::from_utf8(&token[..at]).ok()?.parse::<usize>().ok()?;
                Some((index, token[at..].trim_ascii()))
            });
            match entry {
                Some((index, value)) if index < self.defaults.len() => {
                    entries.push((index, unquoted(value)));
                }
                _ => {
                    let problem = format!(
                        "`{}` is not an index below {} and a value",
                        String::from_utf8_lossy(token),
                        self.defaults.len()
                    );
                    return Err(self.lines.malformed(&problem));
                }
            }
        }
        entries.sort_by_key(|(index, _)| *index);
        if let Some(twice) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(self.lines.malformed(&format!("index {} is there twice", twice[0].0)));
        }
        record.clear();
        let mut entries = entries.into_iter().peekable();
        for (index, default) in self.defaults.iter().enumerate() {
            let entry = entries.next_if(|(next, _)| *next == index);
            let value = entry.as_ref().map_or(default, |(_, value)| value);
            record.push(|bytes| bytes.extend_from_slice(value));
        }
        Ok(())
    }
}

impl Arff<'_> {
    /// Refuses values of nominal attributes that the header does not list.
    fn check_declared(&self, record: &Record, line: u64) -> Result<(), DataError> {
        for (index, (range, declared)) in record.fields.iter().zip(&self.declared).enumerate() {
            let value = &record.bytes[range.clone()];
            let Some(values) = declared else { continue };
            let missing = value.is_empty() || value == b"?";
            if missing || values.binary_search_by(|known| known.as_slice().cmp(value)).is_ok() {
                continue;
            }
            let label = ColumnLabel { number: index + 1, name: self.names[index].clone() };
            let values: Vec<String> =
                values.iter().map(|v| String::from_utf8_lossy(v).into_owned()).collect();
            return Err(DataError::NotDeclared {
                place: self.lines.origin.at_column(line, label),
                text: String::from_utf8_lossy(value).into_owned(),
                values: list(&values),
            });
        }
        Ok(())
    }
}

impl Source for Arff<'_> {
    fn next(&mut self, record: &mut Record) -> Result<Option<u64>, DataError> {
        let Some(number) = self.lines.next()? else {
            return Ok(None);
        };
        if self.lines.text().starts_with(b"{") {
            self.sparse(record)?;
        } else {
            let split = tokens(self.lines.text(), &mut self.tokens);
            split.map_err(|problem| self.lines.malformed(problem))?;
            record.clear();
            for range in &self.tokens.fields {
                let value = unquoted(&self.tokens.bytes[range.clone()]);
                record.push(|bytes| bytes.extend_from_slice(&value));
            }
        }
        self.check_declared(record, number)?;
        Ok(Some(number))
    }

    fn skip(&mut self) -> Result<Option<u64>, DataError> {
        self.lines.next()
    }
}

/// One declared attribute.
struct Attribute {
    name: String,
    text: bool,
    default: Vec<u8>,
    values: Option<Vec<Vec<u8>>>,
}

impl Attribute {
    /// `name type`, the name possibly quoted.
    fn parse(text: &str) -> Result<Attribute, String> {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let split = match quote {
            Some(quote) => closing(text.as_bytes(), quote as u8).map(|end| end + 1),
            None => text.find([' ', '\t', '{']),
        };
        let Some(split) = split.filter(|&at| at > 0 && at < text.len()) else {
            return Err(format!("`{text}` is not the name and the type of an attribute"));
        };
        let name = unquoted(&text.as_bytes()[..split]);
        let name = String::from_utf8_lossy(&name).into_owned();
        let kind = without_comment(text[split..].trim());
        let word = kind.split([' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        match word.as_str() {
            "numeric" | "real" | "integer" => {
                Ok(Attribute { name, text: false, default: b"0".to_vec(), values: None })
            }
            "string" | "date" => {
                Ok(Attribute { name, text: true, default: Vec::new(), values: None })
            }
            _ if kind.starts_with('{') && kind.ends_with('}') => {
                let mut listed = Record::default();
                tokens(&kind.as_bytes()[1..kind.len() - 1], &mut listed)?;
                let values = listed.fields.iter().map(|range| &listed.bytes[range.clone()]);
                let mut values: Vec<Vec<u8>> = values.map(unquoted).collect();
                let default = values.first().cloned().unwrap_or_default();
                values.sort_unstable();
                Ok(Attribute { name, text: true, default, values: Some(values) })
            }
            _ => Err(format!(
                "attribute `{name}` is `{kind}`; numeric, real, integer, string, date and \
                 {{lists, of, values}} are read"
            )),
        }
    }
}

/// A list of values without the comment behind it; anything else as it is.
fn without_comment(kind: &str) -> &str {
    let bytes = kind.as_bytes();
    let (mut place, mut opens) = (1, true);
    while kind.starts_with('{') && place < bytes.len() {
        match bytes[place] {
            b'}' if kind[place + 1..].trim_start().starts_with('%') => return &kind[..=place],
            b',' => opens = true,
            quote @ (b'\'' | b'"') if opens => {
                let Some(end) = closing(&bytes[place..], quote) else { break };
                (place, opens) = (place + end, false);
            }
            byte => opens &= byte.is_ascii_whitespace(),
        }
        place += 1;
    }
    kind
}

/// Splits at commas outside of quotes; the tokens are trimmed, their quotes kept.
fn tokens(line: &[u8], into: &mut Record) -> Result<(), &'static str> {
    into.clear();
    into.bytes.extend_from_slice(line);
    let mut start = 0;
    let mut place = 0;
    // Whether the token has been blanks and digits so far.
    let mut opens = true;
    let mut push = |start: usize, end: usize| {
        let token = &line[start..end];
        let first = end - token.trim_ascii_start().len();
        into.fields.push(first..first + line[first..end].trim_ascii_end().len());
    };
    while place < line.len() {
        match line[place] {
            b',' => {
                push(start, place);
                (start, opens) = (place + 1, true);
            }
            // A quote opens at the start of a token, or of a sparse value.
            quote @ (b'\'' | b'"') if opens => {
                match closing(&line[place..], quote) {
                    Some(end) => place += end,
                    None => return Err("a quote that is not closed"),
                }
                opens = false;
            }
            byte => opens &= byte.is_ascii_whitespace() || byte.is_ascii_digit(),
        }
        place += 1;
    }
    push(start, line.len());
    Ok(())
}

/// Where the quote that `text` begins with is closed.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut escaped = false;
    for (place, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return Some(place),
            _ => {}
        }
    }
    None
}

/// The token without its quotes and the backslashes within them.
fn unquoted(token: &[u8]) -> Vec<u8> {
    let inner = match token {
        [first @ (b'\'' | b'"'), inner @ .., last] if first == last => inner,
        _ => return token.to_vec(),
    };
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(other) => other,
                None => b'\\',
            },
            _ => byte,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use wyhash::final3::wyrng;

    use super::*;

    /// Where the tokens are, each quote looking back at the whole token.
    fn naive(line: &[u8]) -> Option<Vec<(usize, usize)>> {
        let (mut ends, mut start, mut place) = (Vec::new(), 0, 0);
        let opens = |token: &[u8]| {
            token.iter().all(|byte| byte.is_ascii_whitespace() || byte.is_ascii_digit())
        };
        while place < line.len() {
            match line[place] {
                b',' => {
                    ends.push((start, place));
                    start = place + 1;
                }
                quote @ (b'\'' | b'"') if opens(&line[start..place]) => {
                    place += closing(&line[place..], quote)?;
                }
                _ => {}
            }
            place += 1;
        }
        ends.push((start, line.len()));
        Some(ends)
    }

    #[test]
    fn tokens_are_those_of_a_slow_search() {
        let mut state = 7;
        let mut found = Record::default();
        let mut split = 0;
        for _ in 0..20_000 {
            let bytes = b",,  1\\a''\"";
            let mut byte = || bytes[wyrng(&mut state) as usize % bytes.len()];
            let line: Vec<u8> = (0..12).map(|_| byte()).collect();
            let expected = naive(&line).map(|ends| {
                let trimmed = ends.iter().map(|&(start, end)| line[start..end].trim_ascii());
                trimmed.map(<[u8]>::to_vec).collect::<Vec<_>>()
            });
            let told = tokens(&line, &mut found).ok().map(|()| {
                let fields = found.fields.iter().map(|range| found.bytes[range.clone()].to_vec());
                fields.collect::<Vec<_>>()
            });
            split += usize::from(told.as_ref().is_some_and(|tokens| tokens.len() > 1));
            assert_eq!(told, expected, "{line:?}");
        }
        assert!(split > 1000);
    }

    /// Many quotes behind many blanks take no longer than the line is.
    #[test]
    fn many_quotes_behind_blanks() {
        let line = format!("1,{}{}", " ".repeat(200_000), "'".repeat(200_000));
        let mut found = Record::default();
        tokens(line.as_bytes(), &mut found).unwrap();
        assert_eq!(found.fields.len(), 2);
    }
}
