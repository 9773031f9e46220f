//! Short codes for the names and values of columns, for notes that would be long.
//!
//! A code is two or three of 93 characters: a hash of the text. The page of the browser
//! (`wasm/page/columns.ts`) makes the same ones.

use std::collections::HashSet;

/// Characters that JSON writes as they are: printable ASCII but quotes and backslashes.
pub(crate) const SYMBOLS: u32 = 93;
/// Texts, at most, that have codes of two characters: of others one in a hundred has the
/// code of one of them.
const SHORT: usize = 86;

/// How texts become codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Chosen so that no two texts have the same code; below 93.
    salt: u8,
    /// Characters of a code, 2 or 3.
    width: u8,
}

impl Code {
    /// Different codes for texts that are different; `None` if no salt gives them.
    pub(crate) fn of(texts: &[&str]) -> Option<Code> {
        let width = Code::width_of(texts.len());
        (0..SYMBOLS as u8).map(|salt| Code { salt, width }).find(|code| {
            let mut known = HashSet::new();
            texts.iter().all(|text| known.insert(code.number(text)))
        })
    }

    /// From the character that stands for the salt.
    pub(crate) fn new(salt: char, width: u8) -> Option<Code> {
        let salt = symbol_number(salt)? as u8;
        (2..=3).contains(&width).then_some(Code { salt, width })
    }

    pub(crate) fn width_of(texts: usize) -> u8 {
        if texts <= SHORT { 2 } else { 3 }
    }

    /// Characters of a code.
    pub(crate) fn width(self) -> usize {
        self.width.into()
    }

    /// The character that stands for the salt.
    pub(crate) fn salt(self) -> char {
        symbol(u32::from(self.salt))
    }

    /// The code of a text, as a number.
    pub(crate) fn number(self, text: &str) -> u32 {
        // FNV-1a, then the last steps of MurmurHash3, so that every bit counts.
        let mut hash: u32 = 0x811c_9dc5;
        for byte in std::iter::once(self.salt).chain(text.bytes()) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
        (hash ^ (hash >> 16)) % SYMBOLS.pow(self.width.into())
    }

    /// The characters of a code.
    pub(crate) fn text(self, mut number: u32) -> String {
        let mut text = String::new();
        for _ in 0..self.width {
            text.insert(0, symbol(number % SYMBOLS));
            number /= SYMBOLS;
        }
        text
    }

    /// The codes that stand one after another in a text.
    pub(crate) fn numbers(self, text: &str) -> Option<Vec<u32>> {
        let symbols: Vec<u32> = text.chars().map(symbol_number).collect::<Option<_>>()?;
        let codes = symbols.chunks(self.width());
        codes
            .map(|code| {
                let all = code.len() == self.width();
                all.then(|| code.iter().fold(0, |number, symbol| number * SYMBOLS + symbol))
            })
            .collect()
    }

    /// What stands for the name of a column: a name that is none.
    pub(crate) fn name(self, name: &str) -> String {
        if name.is_empty() { String::new() } else { format!("#{}", self.text(self.number(name))) }
    }
}

/// The values of a text column by their codes.
#[derive(Clone, Debug, PartialEq)]
pub struct CodedValues {
    pub(crate) code: Code,
    /// All different; one input for each.
    pub(crate) numbers: Vec<u32>,
}

impl CodedValues {
    pub(crate) fn of(values: &[String]) -> Option<CodedValues> {
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        let code = Code::of(&texts)?;
        Some(CodedValues { code, numbers: texts.iter().map(|text| code.number(text)).collect() })
    }

    /// The salt and the codes.
    pub(crate) fn written(&self) -> String {
        let codes: String = self.numbers.iter().map(|&number| self.code.text(number)).collect();
        format!("{}{codes}", self.code.salt())
    }

    /// From [`Self::written`]; the length tells the width.
    pub(crate) fn read(text: &str) -> Option<CodedValues> {
        let mut characters = text.chars();
        let salt = characters.next()?;
        let codes = characters.as_str();
        let width = if codes.len() <= 2 * SHORT { 2 } else { 3 };
        let code = Code::new(salt, width)?;
        let numbers = code.numbers(codes)?;
        let mut known = HashSet::new();
        numbers.iter().all(|number| known.insert(*number)).then_some(CodedValues { code, numbers })
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// What stands for each value, for people: `#` and its code.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.numbers.iter().map(|&number| format!("#{}", self.code.text(number)))
    }

    /// The place of a value; of one that is none of them by a chance of one in a hundred or
    /// less.
    pub(crate) fn place(&self, text: &str) -> Option<usize> {
        let number = self.code.number(text);
        self.numbers.iter().position(|&known| known == number)
    }
}

fn symbol(number: u32) -> char {
    // 0x20 to 0x7e without " (0x22) and \ (0x5c).
    let byte = 0x20 + number + u32::from(number >= 2) + u32::from(number >= 0x5b - 0x20);
    char::from_u32(byte).unwrap_or('?')
}

fn symbol_number(symbol: char) -> Option<u32> {
    match u32::from(symbol) {
        0x22 | 0x5c => None,
        byte @ 0x20..=0x7e => Some(byte - 0x20 - u32::from(byte > 0x22) - u32::from(byte > 0x5c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_those_of_json() {
        let all: Vec<char> = (0..SYMBOLS).map(symbol).collect();
        for (number, &symbol) in all.iter().enumerate() {
            assert_eq!(symbol_number(symbol), Some(number as u32));
            assert_eq!(serde_json::to_string(&symbol).unwrap(), format!("\"{symbol}\""));
        }
        let distinct: HashSet<char> = all.into_iter().collect();
        assert_eq!(distinct.len() as u32, SYMBOLS);
        assert!(['"', '\\', '\n', '\u{7f}', 'é'].iter().all(|&c| symbol_number(c).is_none()));
    }

    /// The numbers that the page of the browser is tested with, too.
    #[test]
    fn codes_that_do_not_change() {
        let code = Code { salt: 3, width: 2 };
        let found: Vec<u32> = ["", "Private", "höher"].iter().map(|t| code.number(t)).collect();
        assert_eq!(found, [3606, 5022, 8519]);
    }

    #[test]
    fn values_are_found_and_others_hardly_ever() {
        for count in [1, 2, 41, 86, 87, 1000] {
            let values: Vec<String> = (0..count).map(|i| format!("value {i}")).collect();
            let coded = CodedValues::of(&values).unwrap();
            assert_eq!(CodedValues::read(&coded.written()).unwrap(), coded);
            for (place, value) in values.iter().enumerate() {
                assert_eq!(coded.place(value), Some(place));
            }
            let others = (0..20_000).filter(|i| coded.place(&format!("other {i}")).is_some());
            let found = others.count();
            assert!(found <= 250, "{count}: {found} of 20000");
        }
        for bad in ["", "\"ab", "aabc", "aabab", "éab", "aa\n"] {
            assert!(CodedValues::read(bad).is_none(), "{bad}");
        }
    }
}
