//! Texts that are no categories, though an input for each of them could be made.

use super::MAX_VALUES;
use super::delimited::is_decimal_comma;
use super::error::{ColumnLabel, DataError, Place};

/// Different texts from which a column may be refused.
pub(crate) const MANY: usize = 20;

/// Refuses the different `texts` of a column of so many rows that are names of the rows, since
/// most of them stand in one row only; times; numbers with a unit; or too many numbers.
///
/// # Errors
/// What they are.
pub(crate) fn check_categories<'a>(
    texts: impl ExactSizeIterator<Item = &'a str> + Clone,
    rows: usize,
    file: &str,
    column: &ColumnLabel,
) -> Result<(), DataError> {
    let values = texts.len();
    if values < MANY {
        return Ok(());
    }
    let (file, column) = (file.to_owned(), column.clone());
    if texts.clone().all(is_time) {
        return Err(DataError::Times { file, column, values });
    }
    if let Some(text) = numeral(texts.clone())
        && (2 * values > rows || values > MAX_VALUES)
    {
        return Err(DataError::Numerals { file, column, values, text: text.to_owned() });
    }
    let mut numbers = Numbers::default();
    texts.clone().for_each(|text| numbers.add(text));
    let as_categories = 2 * values <= rows && values <= MAX_VALUES;
    if let Some((how, text)) =
        numbers.written(texts.clone().any(|text| text.parse::<f64>().is_ok()))
        && !(how.may_be_categories() && as_categories)
    {
        return Err(DataError::Units { file, column, values, text });
    }
    if 2 * values > rows {
        return Err(DataError::Identifier { file, column, values, rows });
    }
    Ok(())
}

/// Refuses the different `classes` of a target of so many rows by the rule of
/// [`check_categories`], unless each has two rows in the mean; `numbers` of the rows have one,
/// `text` is the first that is none.
///
/// # Errors
/// What they are.
pub(crate) fn check_classes(
    classes: &[String],
    rows: usize,
    numbers: usize,
    text: Option<(Place, String)>,
    file: &str,
    column: &ColumnLabel,
) -> Result<(), DataError> {
    if classes.len() <= rows / 2 {
        return Ok(());
    }
    let texts = classes.iter().map(String::as_str);
    let Err(error) = check_categories(texts.clone(), rows, file, column) else { return Ok(()) };
    if let Some((place, text)) = text
        && matches!(error, DataError::Identifier { .. })
        && are_mostly_numbers(texts)
    {
        return Err(DataError::PartlyNumbers { place, text, numbers, values: rows, target: true });
    }
    let first = || classes.first().cloned().unwrap_or_default();
    let (what, text) = match error {
        DataError::Times { .. } => ("dates or times".to_owned(), first()),
        DataError::Numerals { text, .. } => ("numbers".to_owned(), text),
        DataError::Units { text, .. } => {
            let how = Written::of(&text).unwrap_or(Written::Unit);
            (format!("numbers {}", how.name()), text)
        }
        _ => ("texts".to_owned(), first()),
    };
    let (file, column, values) = (file.to_owned(), column.clone(), classes.len());
    Err(DataError::NoClasses { file, column, values, rows, what, text })
}

/// Whether more than half of different texts are numbers.
pub(crate) fn are_mostly_numbers<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let (mut all, mut numbers) = (0usize, 0usize);
    for text in texts {
        all += 1;
        numbers += usize::from(text.parse::<f64>().is_ok());
    }
    numbers > all - numbers
}

/// One of the different `texts` of a column, if they are many, and numbers all of them.
pub(crate) fn numeral<'a>(
    mut texts: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let first = texts.clone().next();
    let is_number = |text: &str| text.trim().parse().is_ok_and(f64::is_finite);
    first.filter(|_| texts.len() >= MANY && texts.all(is_number))
}

/// Whether a text is a date, a time of day, or both: numbers between the signs that such have.
pub(crate) fn is_time(text: &str) -> bool {
    let text = text.trim_end_matches("UTC").trim_end_matches(['Z', ' ']);
    let mut fields = text.split(|c: char| !c.is_ascii_digit());
    let digits = fields.all(|field| matches!(field.len(), 1..=9));
    let count = |wanted: &[char]| text.chars().filter(|c| wanted.contains(c)).count();
    let known = text.chars().all(|c| c.is_ascii_digit() || "-/.:T +,".contains(c));
    let date = ['-', '/', '.'].iter().any(|&sign| count(&[sign]) >= 2);
    digits && known && (date || count(&[':']) >= 1)
}

/// How numbers are written that are read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// 20.5 C, $5.23.
    Unit,
    /// 1.886,46 and 1'886.46.
    Thousands,
    /// With a minus sign or a dash for the hyphen.
    Minus,
    /// 0x00cc.
    Hex,
}

impl Written {
    /// How a text is written, if it is a number that is written so.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        if hex.is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok()) {
            return Some(Self::Hex);
        }
        if let Some(number) = text.strip_prefix(['−', '–']) {
            return number.parse::<f64>().is_ok().then_some(Self::Minus);
        }
        if has_thousands(text) {
            return Some(Self::Thousands);
        }
        unit(text).map(|_| Self::Unit)
    }

    /// Whether texts like these, each in several rows, are rather names: addresses on a bus,
    /// numbers of telephones, postal codes.
    pub(crate) fn may_be_categories(self) -> bool {
        matches!(self, Self::Hex | Self::Thousands)
    }

    /// In words, of numbers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unit => "with a unit",
            Self::Thousands => "with thousands separators",
            Self::Minus => "with a minus sign that is none of ASCII",
            Self::Hex => "in hexadecimal",
        }
    }

    /// With what they are numbers.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Unit => "without the unit",
            Self::Thousands => "without these signs, and with a decimal point,",
            Self::Minus => "with `-` for it",
            Self::Hex => "as decimal numbers",
        }
    }
}

/// Whether the texts of a column are numbers that are written in one of those ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// How, the unit, and the least such text.
    how: Option<(Written, String, String)>,
    /// Whether some text is none, or written in another way.
    plain: bool,
}

impl Numbers {
    /// Adds a text.
    pub(crate) fn add(&mut self, text: &str) {
        if is_time(text) {
            self.plain = true;
        }
        // Of 1.886,46 and 950,10 the second has no thousands.
        if self.plain || text.parse::<f64>().is_ok() || is_decimal_comma(text.as_bytes()) {
            return;
        }
        let Some(how) = Written::of(text) else {
            self.plain = true;
            return;
        };
        let unit = unit(text).filter(|_| how == Written::Unit).unwrap_or_default();
        match &mut self.how {
            Some((other, of, least)) => {
                self.plain = (*other, of.as_str()) != (how, unit);
                if text < least.as_str() {
                    text.clone_into(least);
                }
            }
            None => self.how = Some((how, unit.to_owned(), text.to_owned())),
        }
    }

    /// Adds the texts of the same column in another file.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.plain |= other.plain;
        if let Some((_, _, text)) = &other.how {
            self.add(text);
        }
    }

    /// How they are written, with one of them; `numbers` are among them, which have no unit.
    pub(crate) fn written(&self, numbers: bool) -> Option<(Written, String)> {
        let (how, _, text) = self.how.as_ref().filter(|_| !self.plain)?;
        let whole = matches!(how, Written::Unit | Written::Hex);
        (!(whole && numbers)).then(|| (*how, text.clone()))
    }
}

/// Whether a text is a number with thousands separators, and perhaps another one before its
/// decimals.
fn has_thousands(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(sign) = text.chars().find(|c| !c.is_ascii_digit()) else { return false };
    if !matches!(sign, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}') {
        return false;
    }
    let (whole, decimals) = match text.find(|c| matches!(c, ',' | '.') && c != sign) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let groups: Vec<&str> = whole.split(sign).collect();
    // Four with points are an address.
    let address = sign == '.' && decimals.is_none() && groups.len() == 4;
    let [first, rest @ ..] = &groups[..] else { return false };
    matches!(first.len(), 1..=3)
        && digits(first)
        && !rest.is_empty()
        && rest.iter().all(|group| group.len() == 3 && digits(group))
        && decimals.is_none_or(digits)
        && !address
}

/// Signs of currencies that stand before numbers.
const CURRENCIES: [char; 5] = ['$', '€', '£', '¥', '₹'];

/// The sign of a currency before a number.
fn currency(text: &str) -> Option<&str> {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = text.strip_prefix(CURRENCIES)?;
    let sign = &text[..text.len() - number.len()];
    let number = number.trim_start();
    let is_number = has_thousands(number) || number.replace(',', ".").parse::<f64>().is_ok();
    is_number.then_some(sign)
}

/// What stands behind a number, if that is a unit: letters or signs, not a colon or a slash and
/// more digits. Signs of currencies stand before it as well.
fn unit(text: &str) -> Option<&str> {
    if let Some(sign) = currency(text) {
        return Some(sign);
    }
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+');
    let unit = text.trim_start_matches(digits);
    let number = &text[..text.len() - unit.len()];
    let first = unit.trim_start().chars().next()?;
    let is_unit = !first.is_ascii() || first.is_ascii_alphabetic() || "%$\"'".contains(first);
    (is_unit && number.replace(',', ".").parse::<f64>().is_ok()).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_from_other_texts() {
        for time in [
            "2026-01-31",
            "2026-01-31T10:20:30",
            "2026-01-31 10:20:30.123456",
            "2026-01-31T10:20:30Z",
            "2026-01-31T10:20:30+01:00",
            "31.1.2026",
            "1/31/2026 7:05",
            "07:05",
            "10:20:30 UTC",
        ] {
            assert!(is_time(time), "{time}");
        }
        for text in ["", "a", "1", "1.5", "-3", "1-2", "2-3 rooms", "v1.2.3", ":", "1e-5", "10:b"] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn units_stand_behind_numbers() {
        let units = [
            ("20.1C", "C"),
            ("-3 %", " %"),
            ("7,5V", "V"),
            ("1e", "e"),
            ("$5.23", "$"),
            ("€ 5,23", "€"),
            ("-£1,234.50", "£"),
        ];
        for (text, found) in units {
            assert_eq!(unit(text), Some(found), "{text}");
        }
        for text in
            ["", "C", "20", "20 ", "-", "1.2.3x", "a1", "8:00", "3/4", "1/2024", "1 200", "$", "$a"]
        {
            assert_eq!(unit(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_known_however_they_are_written() {
        use Written::{Hex, Minus, Thousands, Unit};
        for (texts, how) in [
            (&["20.5%", "3%"][..], Some(Unit)),
            (&["20.5 C", "-3 C"], Some(Unit)),
            (&["$7.50", "$1,200.50"], Some(Unit)),
            (&["$7.50", "€7.50"], None),
            (&["20%", "3 C"], None),
            (&["20%", "3"], None),
            (&["1.886,46", "950,10", "950"], Some(Thousands)),
            (&["1'886.46", "1’000", "12"], Some(Thousands)),
            (&["9,720.6", "1 200"], Some(Thousands)),
            (&["−3", "2.5"], Some(Minus)),
            (&["–1.5e3"], Some(Minus)),
            (&["0x00cc", "0XFF"], Some(Hex)),
            (&["0x00cc", "12"], None),
            // Addresses, ranges of ages, versions, doors, plain numbers.
            (&["10.168.100.101", "192.168.100.102"], None),
            (&["10-19", "20-29"], None),
            (&["08:00", "09:00"], None),
            (&["1/2024", "2/2024"], None),
            (&["1.2.3", "1.2.4"], None),
            (&["2", "3", "5more"], None),
            (&["1st", "2nd"], None),
            (&["1", "2.5"], None),
            (&["a", "20%"], None),
        ] {
            let mut numbers = Numbers::default();
            texts.iter().for_each(|text| numbers.add(text));
            let some = texts.iter().any(|text| text.parse::<f64>().is_ok());
            assert_eq!(numbers.written(some).map(|(how, _)| how), how, "{texts:?}");
        }
    }
}
