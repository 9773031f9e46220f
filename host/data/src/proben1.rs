//! PROBEN1 files (Prechelt, "PROBEN1: A set of neural network benchmark problems
//! and benchmarking rules", 1994): seven counts, then rows between spaces, the
//! inputs first and the outputs after them.

use super::error::DataError;
use super::lines::Lines;
use super::open::Input;
use super::records::{Known, Record, Source};
use super::table::Part;

/// The counts of the header.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    inputs: usize,
    bool_out: usize,
    real_out: usize,
    parts: [usize; 3],
}

/// The names of the counts, in the order of the file.
const COUNTS: [&str; 7] = [
    "bool_in",
    "real_in",
    "bool_out",
    "real_out",
    "training_examples",
    "validation_examples",
    "test_examples",
];

/// The rows of a PROBEN1 file. Several boolean outputs are one column, the
/// number from 1 of the one that is on.
pub(crate) struct Proben1<'r> {
    lines: Lines<'r>,
    header: Header,
    rows: usize,
}

impl<'r> Proben1<'r> {
    /// Reads the header.
    pub fn open(input: Input<'r>) -> Result<(Known, Box<dyn Source + 'r>), DataError> {
        let proben1 = Proben1::new(input)?;
        let Header { inputs, bool_out, real_out, .. } = proben1.header;
        let targets = match (bool_out, real_out) {
            (2.., 0) => vec!["class".to_owned()],
            _ => (1..=bool_out + real_out).map(|output| format!("output{output}")).collect(),
        };
        let mut known = Known { targets: targets.len(), ..Known::default() };
        // Inputs have no names in the file: they are matched by position.
        known.names = vec![String::new(); inputs];
        known.names.extend(targets);
        known.text = vec![false; known.names.len()];
        if let (2.., 0) = (bool_out, real_out) {
            // A number, but surely the name of a class.
            known.text[inputs] = true;
        }
        Ok((known, Box::new(proben1)))
    }

    /// Which row belongs to which part, as the header says.
    pub fn parts(input: Input<'r>) -> Result<Vec<Part>, DataError> {
        let [train, validation, test] = Proben1::new(input)?.header.parts;
        let run = |part, count| std::iter::repeat_n(part, count);
        let all = run(Part::Train, train).chain(run(Part::Validation, validation));
        Ok(all.chain(run(Part::Test, test)).collect())
    }

    fn new(input: Input<'r>) -> Result<Proben1<'r>, DataError> {
        let lines = Lines::new(input, None);
        let mut proben1 = Proben1 { lines, header: Header::default(), rows: 0 };
        let mut counts = [0; COUNTS.len()];
        for (count, name) in counts.iter_mut().zip(COUNTS) {
            let text = match proben1.lines.next()? {
                Some(_) => String::from_utf8_lossy(proben1.lines.text()).into_owned(),
                None => return Err(proben1.lines.malformed("the file ends within the header")),
            };
            let value = text.split_once('=').filter(|(key, _)| key.trim() == name);
            let value = value.and_then(|(_, value)| value.trim().parse::<u32>().ok());
            let Some(value) = value else {
                let problem = format!("`{text}`, where the header has `{name}=` and a number");
                return Err(proben1.lines.malformed(&problem));
            };
            *count = value as usize;
        }
        let [bool_in, real_in, bool_out, real_out, train, validation, test] = counts;
        let inputs = bool_in + real_in;
        if inputs == 0
            || bool_out + real_out == 0
            || inputs + bool_out + real_out > super::MAX_INPUTS
        {
            let outputs = bool_out + real_out;
            let problem = format!("{inputs} inputs and {outputs} outputs cannot be read");
            return Err(proben1.lines.malformed(&problem));
        }
        proben1.header = Header { inputs, bool_out, real_out, parts: [train, validation, test] };
        Ok(proben1)
    }

    /// The number from 1 of the only output that is on.
    fn class(&self, outputs: &[&[u8]]) -> Result<usize, DataError> {
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<f64>().ok();
        let on = |field: &&[u8]| number(field) == Some(1.0);
        let off = |field: &&[u8]| number(field) == Some(0.0);
        let first = outputs.iter().position(on);
        let clean = outputs.iter().filter(|field| !off(field)).count() == 1;
        match first.filter(|_| clean) {
            Some(class) => Ok(class + 1),
            None => {
                let text: Vec<_> = outputs.iter().map(|f| String::from_utf8_lossy(f)).collect();
                let problem = format!("the outputs `{}` do not name one class", text.join(" "));
                Err(self.lines.malformed(&problem))
            }
        }
    }
}

impl Source for Proben1<'_> {
    fn next(&mut self, record: &mut Record) -> Result<Option<u64>, DataError> {
        let promised: usize = self.header.parts.iter().sum();
        let found = self.lines.next()?;
        match (found, self.rows == promised) {
            (None, true) => return Ok(None),
            (None, false) => {
                let problem = format!("{} rows, where the header has {promised}", self.rows);
                // Said once: the end is the end for whoever reads on.
                self.rows = promised;
                return Err(self.lines.malformed(&problem));
            }
            (Some(_), true) => {
                let problem = format!("more rows than the header's {promised}");
                return Err(self.lines.malformed(&problem));
            }
            (Some(_), false) => self.rows += 1,
        }
        let fields: Vec<&[u8]> = self
            .lines
            .text()
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty())
            .collect();
        let Header { inputs, bool_out, real_out, .. } = self.header;
        if fields.len() != inputs + bool_out + real_out {
            return Err(DataError::Ragged {
                place: self.lines.origin.at(self.lines.number),
                expected: inputs + bool_out + real_out,
                found: fields.len(),
            });
        }
        let number = |field: &&&[u8]| {
            std::str::from_utf8(field).is_ok_and(|text| text.parse::<f32>().is_ok())
        };
        if let Some(slip) = fields.iter().find(|field| !number(field)) {
            let problem = format!("`{}` is not a number", String::from_utf8_lossy(slip));
            return Err(self.lines.malformed(&problem));
        }
        record.clear();
        let (plain, class) = match (bool_out, real_out) {
            (2.., 0) => (inputs, Some(self.class(&fields[inputs..])?)),
            _ => (fields.len(), None),
        };
        for field in &fields[..plain] {
            record.push(|bytes| bytes.extend_from_slice(field));
        }
        if let Some(class) = class {
            record.push(|bytes| bytes.extend_from_slice(class.to_string().as_bytes()));
        }
        Ok(found)
    }
}
