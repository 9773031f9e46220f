//! Values far from all others that come again: most often codes of unknown values, such as -999.

use super::error::ColumnLabel;
use super::warning::DataWarning;

/// Numbers from which on a column says something.
const LEAST_NUMBERS: usize = 20;
/// The gap to the others, as so many times what those span.
const GAP: f64 = 5.0;
/// Its magnitude, as so many times the largest of the others, where it has their sign: area codes
/// lie apart, too.
const LARGER: f64 = 3.0;
/// One of so many numbers, at most, is such a value.
const SHARE: usize = 4;
/// The same of a number that is often a code: nines, such as -999. The gap to the others is larger
/// than what those span.
const SHARE_OF_CODES: usize = 2;
const GAP_OF_CODES: f64 = 1.0;

/// A total, as so many times the largest of the others, at least.
const TOTAL: f64 = 5.0;

/// What an input map can tell apart: columns that spread by less, or have larger values, are
/// noise to a model.
const LEAST_SPREAD: f64 = 1e-12;
const LARGEST: f64 = 1e28;

/// The ends of a column's values. Parts may be merged in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extremes {
    numbers: usize,
    high: Option<End>,
    /// That of the negated values.
    low: Option<End>,
}

/// The largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    value: f64,
    count: usize,
    /// The largest but this.
    next: Option<f64>,
}

/// The largest of what becomes of the numbers, not counting NaN; −∞ of none. Several are compared
/// at a time.
pub(crate) fn largest(numbers: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [f64::NEG_INFINITY; 8];
    let (chunks, rest) = numbers.as_chunks::<8>();
    for chunk in chunks {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, of(number));
        }
    }
    rest.iter().map(|&number| of(number)).chain(lanes).fold(f64::NEG_INFINITY, larger)
}

/// What some numbers lie between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    /// The least; ∞ of none.
    pub lowest: f64,
    /// The largest; −∞ of none.
    pub highest: f64,
    /// How many there are, not counting NaN.
    pub numbers: usize,
}

impl Range {
    /// Of numbers; NaN is none.
    pub fn of(numbers: &[f64]) -> Self {
        Self {
            lowest: -largest(numbers, |number| -number),
            highest: largest(numbers, |number| number),
            numbers: numbers.iter().filter(|number| !number.is_nan()).count(),
        }
    }
}

impl End {
    /// That of some numbers, or of what they are negated, of which `value` is the largest; none of
    /// no number.
    fn of(numbers: &[f64], sign: f64, value: f64) -> Option<Self> {
        let count = numbers.iter().filter(|&&number| sign * number == value).count();
        let below = |number: f64| if number < value { number } else { f64::NEG_INFINITY };
        let next = largest(numbers, |number| below(sign * number));
        let next = (next > f64::NEG_INFINITY).then_some(next);
        (count > 0).then_some(Self { value, count, next })
    }

    fn add(&mut self, value: f64) {
        if value > self.value {
            *self = Self { value, count: 1, next: Some(self.value) };
        } else if value == self.value {
            self.count += 1;
        } else if self.next.is_none_or(|next| value > next) {
            self.next = Some(value);
        }
    }
}

impl Extremes {
    /// Adds a number; NaN is none.
    pub fn add(&mut self, number: f64) {
        if number.is_nan() {
            return;
        }
        self.numbers += 1;
        for (end, value) in [(&mut self.high, number), (&mut self.low, -number)] {
            match end {
                Some(end) => end.add(value),
                None => *end = Some(End { value, count: 1, next: None }),
            }
        }
    }

    /// Adds numbers and their `range`; NaN is none.
    pub fn add_all(&mut self, numbers: &[f64], range: Range) {
        self.numbers += range.numbers;
        let ends = [(&mut self.high, 1.0, range.highest), (&mut self.low, -1.0, -range.lowest)];
        for (end, sign, value) in ends {
            // What is below the second largest changes nothing.
            if end.and_then(|end| end.next).is_none_or(|next| value >= next) {
                *end = merged(*end, End::of(numbers, sign, value));
            }
        }
    }

    /// Adds what has been seen of another part.
    pub fn merge(&mut self, other: &Self) {
        self.numbers += other.numbers;
        self.high = merged(self.high, other.high);
        self.low = merged(self.low, other.low);
    }

    /// What to say of an input in a unit that is much too large or too small.
    pub fn unit(&self, file: &str, column: &ColumnLabel) -> Option<DataWarning> {
        let (high, low) = (self.high?.value, self.low?.value);
        let (spread, largest) = (high + low, high.abs().max(low.abs()));
        let bad = (spread > 0.0 && spread < LEAST_SPREAD) || largest > LARGEST;
        let (file, column) = (file.to_owned(), column.clone());
        bad.then_some(DataWarning::Unit { file, column, range: (-low, high) })
    }

    /// Whether the largest value is there once, and many times as large as all others, which are above
    /// 0 like it.
    pub fn is_largest_far(&self) -> bool {
        let far = |end: End| {
            end.count == 1 && end.next.is_some_and(|next| next > 0.0 && end.value > TOTAL * next)
        };
        self.numbers >= LEAST_NUMBERS && self.high.is_some_and(far)
    }

    /// What to say of a column whose largest or least value is far from all others, and not there
    /// once only.
    pub fn warning(&self, file: &str, column: &ColumnLabel) -> Option<DataWarning> {
        let (high, low) = (self.high?, self.low?);
        let far = |end: End, opposite: f64, sign: f64| {
            let next = end.next?;
            let span = next + opposite;
            let code = is_code(sign * end.value)
                && SHARE_OF_CODES * end.count <= self.numbers
                && end.count > 1
                && span > 0.0
                && end.value - next > GAP_OF_CODES * span;
            let few = end.count > 1 && SHARE * end.count <= self.numbers;
            let apart = span > 0.0 && end.value - next > GAP * span;
            // Of another sign, or 0, beside values that are far from 0 and near each other.
            let crosses = end.value >= 0.0 && next < 0.0;
            let large = crosses || end.value.abs() > LARGER * next.abs().max(opposite.abs());
            (code || few && apart && large).then_some((end, next))
        };
        let (value, count, others) = if let Some((end, next)) = far(high, low.value, 1.0) {
            (end.value, end.count, (-low.value, next))
        } else {
            let (end, next) = far(low, high.value, -1.0)?;
            (-end.value, end.count, (-next, high.value))
        };
        let (file, column) = (file.to_owned(), column.clone());
        let numbers = self.numbers;
        let warning = DataWarning::FarAway { file, column, value, count, numbers, others };
        (numbers >= LEAST_NUMBERS).then_some(warning)
    }
}

/// Whether a number is one that people write for an unknown value: 999 and more nines, or -99.
fn is_code(value: f64) -> bool {
    let digits = value.abs().to_string();
    digits.bytes().all(|digit| digit == b'9') && digits.len() >= if value < 0.0 { 2 } else { 3 }
}

fn merged(a: Option<End>, b: Option<End>) -> Option<End> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    let (mut more, less) = if a.value >= b.value { (a, b) } else { (b, a) };
    let below = if more.value > less.value {
        Some(less.value)
    } else {
        more.count += less.count;
        less.next
    };
    more.next = match (more.next, below) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    };
    Some(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(parts: &[&[f64]]) -> Option<(f64, usize, (f64, f64))> {
        let mut all = Extremes::default();
        for part in parts {
            // One by one, and together.
            let (mut its, mut same) = (Extremes::default(), Extremes::default());
            part.iter().for_each(|&value| its.add(value));
            same.add_all(part, Range::of(part));
            assert_eq!(its, same);
            all.merge(&its);
        }
        match all.warning("a.csv", &ColumnLabel { number: 1, name: String::new() })? {
            DataWarning::FarAway { value, count, others, .. } => Some((value, count, others)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn units_that_no_input_map_serves_are_told() {
        let told = |factor: f64| {
            let mut all = Extremes::default();
            (0..40).for_each(|i| all.add(factor * f64::from(i * 7 % 40)));
            all.unit("a.csv", &ColumnLabel { number: 1, name: String::new() }).is_some()
        };
        assert!(told(1e-20) && told(1e-14) && told(1e30));
        assert!(!told(0.0) && !told(1e-12) && !told(1.0) && !told(1e26));
    }

    #[test]
    fn codes_of_unknown_values_are_found() {
        let usual: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 40) / 2.0).collect();
        let with = |more: &[f64]| found(&[&usual, more]);
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[1e6, 1e6]), Some((1e6, 2, (0.0, 19.5))));
        assert_eq!(with(&[-999.0, -999.0, f64::NAN]), Some((-999.0, 2, (0.0, 19.5))));
        assert_eq!(with(&[1e6]), None, "once may be a measurement");
        assert_eq!(with(&[1e6, 1.1e6]), None, "not the same");
        assert_eq!(with(&[60.0, 60.0]), None, "near the others");
        assert_eq!(with(&[1e6; 20]), None, "too many for a code");
        let shifted: Vec<f64> = usual.iter().map(|value| value + 400.0).collect();
        assert_eq!(found(&[&shifted, &[700.0, 700.0]]), None, "of the same size");
        let others = (400.0, 419.5);
        for code in [0.0, -1.0, -999.0] {
            assert_eq!(found(&[&shifted, &[code, code]]), Some((code, 2, others)), "another sign");
        }
        let below: Vec<f64> = shifted.iter().map(|value| -value).collect();
        assert_eq!(found(&[&below, &[9.0, 9.0]]), Some((9.0, 2, (-419.5, -400.0))));
        // Whatever is seen first.
        assert_eq!(found(&[&[1e6, 3.0], &usual, &[1e6]]), Some((1e6, 2, (0.0, 19.5))));
        assert_eq!(found(&[&[5.0; 30], &[1e6, 1e6]]), None, "two values");
        assert_eq!(found(&[&[1.0, 2.0, 3.0, 1e6, 1e6]]), None, "too few numbers");
    }
}
