//! Axes: ranges, ticks and their labels.

/// Ticks that a plot of this size has room for.
const MOST_TICKS: usize = 7;

/// Digits after the point up to which small numbers are no powers of ten.
const MOST_DECIMALS: usize = 6;

/// Share of a logarithmic axis that two ticks are apart at least.
const CLOSEST: f64 = 0.1;

/// An axis of a plot, in the values' own units.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is measured, with its unit.
    pub name: String,
    /// Whether distances are ratios.
    pub log: bool,
    /// Where to put ticks; chosen if empty.
    pub ticks: Vec<f64>,
    /// Whether 0 is on the axis (linear only).
    pub zero: bool,
    /// Least and largest value; those of the data if not given.
    pub range: Option<(f64, f64)>,
    /// Values that the quantity cannot go beyond, nor the axis.
    pub bounds: Option<(f64, f64)>,
}

/// An axis that knows its data.
#[derive(Clone, Debug)]
pub struct Scale {
    log: bool,
    /// Ends, on the plot's own scale: of logarithms for a logarithmic axis.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Ticks on the plot's own scale.
    pub ticks: Vec<f64>,
    /// Digits after the point of a label on a linear axis.
    decimals: usize,
}

impl Axis {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            log: false,
            ticks: Vec::new(),
            zero: false,
            range: None,
            bounds: None,
        }
    }

    /// The scale for values from `low` to `high`, all positive on a logarithmic
    /// axis.
    pub fn scale(&self, low: f64, high: f64) -> Scale {
        let (mut low, mut high) = self.range.unwrap_or((low, high));
        if self.zero && !self.log {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        let own = |value: f64| if self.log { value.log10() } else { value };
        let (mut a, mut b) = (own(low), own(high));
        let flat = match a {
            _ if self.log => 0.15,
            0.0 => 1.0,
            _ => 0.1 * a.abs(),
        };
        if b - a < 1e-9 * (a.abs() + b.abs()) + f64::MIN_POSITIVE {
            (a, b) = (a - flat, b + flat);
        } else if self.range.is_none() {
            let margin = 0.05 * (b - a);
            // No empty strip below an axis that begins at 0.
            a -= if self.zero && !self.log && low >= 0.0 { 0.0 } else { margin };
            b += margin;
        }
        if let Some((least, largest)) = self.bounds {
            // Of a value beyond them the plot would show nothing.
            a = a.max(own(least.min(low)));
            b = b.min(own(largest.max(high)));
        }
        let (ticks, decimals) = if self.ticks.is_empty() {
            if self.log { log_ticks(a, b) } else { linear_ticks(a, b) }
        } else {
            (self.ticks.iter().map(|&tick| own(tick)).collect(), decimals_of(&self.ticks))
        };
        let ticks = ticks.into_iter().filter(|&tick| tick >= a - 1e-9 && tick <= b + 1e-9);
        Scale { log: self.log, low: a, high: b, ticks: ticks.collect(), decimals }
    }
}

impl Scale {
    /// A value on the plot's own scale.
    pub fn own(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    /// The label of a tick.
    pub fn label(&self, tick: f64) -> String {
        if self.log {
            return short(10f64.powf(tick));
        }
        let text = self::tick(tick, self.decimals);
        match text.strip_prefix('−') {
            Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
            Some(rest) => format!("−{}", grouped(rest)),
            None => grouped(&text),
        }
    }
}

/// A number with so many digits after the point; as a power of ten where it is small and most of
/// them would be zeros.
pub fn tick(number: f64, decimals: usize) -> String {
    let magnitude = number.abs();
    let text = if decimals > MOST_DECIMALS && magnitude == 0.0 {
        "0".to_owned()
    } else if decimals > MOST_DECIMALS && magnitude < 1e-3 {
        // As many digits as would stand behind the zeros.
        let digits = (decimals as f64 + magnitude.log10().floor()).max(0.0) as usize;
        format!("{number:.digits$e}")
    } else {
        format!("{number:.decimals$}")
    };
    text.replace('-', "−")
}

/// Thousands apart, where there are more than four digits before the point.
pub fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find(['.', 'e']).unwrap_or(text.len()));
    if whole.len() <= 4 {
        return text.to_owned();
    }
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out + rest
}

/// A value in few characters.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "–".into();
    }
    if !(1e-3..1e6).contains(&magnitude) {
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e{exponent}").replace('-', "−");
    }
    let decimals = (3 - magnitude.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{magnitude:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        grouped(&text)
    };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// Digits after the point that tell the values exactly, at most 6.
fn decimals_of(values: &[f64]) -> usize {
    let exact = |decimals: usize| {
        let power = 10f64.powi(decimals as i32);
        values.iter().all(|value| (value * power - (value * power).round()).abs() < 1e-6)
    };
    (0..6).find(|&decimals| exact(decimals)).unwrap_or(6)
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, and the digits after the
/// point of their labels.
fn linear_ticks(low: f64, high: f64) -> (Vec<f64>, usize) {
    let rough = (high - low) / MOST_TICKS as f64;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = power * steps.into_iter().find(|s| s * power >= rough * 0.999).unwrap_or(10.0);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 340.0) as usize;
    ((first..=last).map(|n| n as f64 * step).collect(), decimals)
}

/// Ticks on a scale of logarithms: powers of ten, over less than three of them
/// also 2 and 5 times these; where that gives too few, the ticks of a linear axis.
fn log_ticks(low: f64, high: f64) -> (Vec<f64>, usize) {
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let ticks = |every: i32, factors: &[f64]| -> Vec<f64> {
        (first..=last)
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| factors.iter().map(move |f| f64::from(power) + f.log10()))
            .filter(|tick| (low - 1e-9..=high + 1e-9).contains(tick))
            .collect()
    };
    let fine = ticks(1, &[1.0, 2.0, 5.0]);
    if fine.len() < 3 {
        let (ticks, decimals) = linear_ticks(10f64.powf(low), 10f64.powf(high));
        let ticks = ticks.into_iter().filter(|&tick| tick > 0.0).map(f64::log10);
        // They crowd towards the end.
        let mut apart: Vec<f64> = Vec::new();
        for tick in ticks {
            if apart.last().is_none_or(|last| tick - last > CLOSEST * (high - low)) {
                apart.push(tick);
            }
        }
        return (apart, decimals);
    }
    if fine.len() <= MOST_TICKS {
        return (fine, 0);
    }
    let every = (1..).find(|&every| ticks(every, &[1.0]).len() <= MOST_TICKS).unwrap_or(1);
    (ticks(every, &[1.0]), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_inside() {
        let (ticks, decimals) = linear_ticks(0.013, 0.094);
        assert_eq!(decimals, 2);
        let expected = [0.02, 0.04, 0.06, 0.08];
        assert!(ticks.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{ticks:?}");
    }

    #[test]
    fn log_ticks_suit_the_span() {
        let labels = |low: f64, high: f64| -> Vec<String> {
            let axis = Axis { log: true, ..Axis::new("") };
            let scale = axis.scale(low, high);
            scale.ticks.iter().map(|&tick| scale.label(tick)).collect()
        };
        assert_eq!(labels(64.0, 1024.0), ["100", "200", "500", "1000"]);
        assert_eq!(labels(1e-7, 1e-1), ["1e−7", "1e−6", "1e−5", "1e−4", "0.001", "0.01", "0.1"]);
        assert_eq!(labels(3.0, 4.0), ["3", "3.2", "3.4", "3.6", "3.8", "4"]);
    }

    /// However small the values are, ticks have the digits that tell them apart.
    #[test]
    fn small_ticks_have_digits() {
        let labels = |low: f64, high: f64| -> Vec<String> {
            let scale = Axis::new("").scale(low, high);
            scale.ticks.iter().map(|&tick| scale.label(tick)).collect()
        };
        assert_eq!(labels(0.0, 4e-14), ["0", "1e−14", "2e−14", "3e−14", "4e−14"]);
        let close = ["2.0000e−6", "2.0002e−6", "2.0004e−6"];
        assert_eq!(labels(2e-6, 2.001e-6)[..3], close);
        assert_eq!(labels(-2e-9, 0.0)[0], "−2.0e−9");
        assert_eq!(labels(0.0, 0.004)[..2], ["0.000", "0.001"]);
        assert_eq!(labels(-20_000.0, 0.0)[0], "−20\u{202f}000");
    }

    /// A minus is no digit.
    #[test]
    fn negative_numbers_are_grouped_as_others() {
        for (value, text) in [
            (-123_456.0, "−123\u{202f}456"),
            (-1234.0, "−1234"),
            (-12_345.0, "−12\u{202f}345"),
            (123_456.0, "123\u{202f}456"),
            (-0.25, "−0.25"),
            (-2e-9, "−2e−9"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn an_axis_stops_where_its_quantity_does() {
        let axis = Axis { bounds: Some((0.0, 100.0)), ..Axis::new("%") };
        for (low, high) in [(1.0, 99.0), (0.0, 100.0), (0.0, 0.0), (100.0, 100.0)] {
            let scale = axis.scale(low, high);
            assert!(scale.low >= 0.0 && scale.high <= 100.0, "{scale:?}");
            assert!(scale.low < scale.high, "{scale:?}");
        }
    }

    #[test]
    fn one_value_has_a_scale() {
        for (log, value) in [(false, 0.0), (false, 7.0), (true, 7.0)] {
            let scale = Axis { log, ..Axis::new("") }.scale(value, value);
            assert!(scale.low < scale.own(value) && scale.own(value) < scale.high);
            assert!(!scale.ticks.is_empty() && scale.ticks.len() <= MOST_TICKS + 2);
        }
    }
}
