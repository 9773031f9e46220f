//! Replays the golden models that the host has packed into flash, fast and in the small
//! form: every row, in every type that holds its numbers, must give its exact scores.

#![no_std]
#![no_main]

use koan::{Any, Buffers, Input, Model, OwnedBuffers, Predictor, Profile, Small};
use koan_firmware::{entry, exit, exit_on_panic, pack, packed, println, stack};

exit_on_panic!();

/// Enough for 1,024 inputs and a transform of them; a model that needs more is
/// reported, not skipped.
type Memory = OwnedBuffers<1024, 1024, 1024, 32>;

/// What was equal, and how much was not.
#[derive(Default)]
struct Count {
    models: usize,
    rows: usize,
    scores: usize,
    differences: usize,
}

#[entry]
fn main() -> ! {
    stack::paint();
    let mut count = Count::default();
    if let Err(error) = replay(&mut count) {
        println!("{error}");
        exit(1)
    }
    let Count { models, rows, scores, differences } = count;
    if stack::used().is_none() {
        println!("the stack of {} bytes ran over", stack::size());
        exit(1)
    }
    if differences > 0 {
        println!("{differences} scores differ");
        exit(1)
    }
    println!("equal: {models} models, {rows} rows, {scores} scores");
    exit(0)
}

/// What ends the replay at once.
enum Failure<'a> {
    Pack,
    Model(&'a str, koan::Error),
    Scores(&'a str, usize, usize),
}

impl core::fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Pack => write!(f, "there is no readable pack in flash"),
            Self::Model(name, error) => write!(f, "model {name}: {error}"),
            Self::Scores(name, needed, given) => {
                write!(f, "model {name}: {needed} scores expected, {given} given")
            }
        }
    }
}

fn replay(count: &mut Count) -> Result<(), Failure<'static>> {
    let mut memory = Memory::new();
    for entry in pack::read(packed()).ok_or(Failure::Pack)? {
        let entry = entry.ok_or(Failure::Pack)?;
        run::<Any>("fast", &entry, &mut memory, count)?;
        run::<Small>("small", &entry, &mut memory, count)?;
        count.models += 1;
        count.rows += entry.rows.count();
    }
    Ok(())
}

/// Replays a model in a form. A function of its own for its memory.
#[inline(never)]
fn run<P: Profile>(
    form: &'static str,
    entry: &pack::Entry<'static>,
    memory: &mut Memory,
    count: &mut Count,
) -> Result<(), Failure<'static>> {
    let name = entry.name;
    let refused = |error| Failure::Model(name, error);
    let model = Model::parse(entry.blob).map_err(refused)?;
    let predictor = Predictor::<_, P>::serving(model, memory.workspace());
    let mut predictor = predictor.map_err(refused)?;
    predictor.self_test().map_err(refused)?;
    for (number, row) in entry.rows.enumerate() {
        let row = row.ok_or(Failure::Pack)?;
        let mut place = Place { name, form, row: number, expected: row.scores, count };
        if let Some(floats) = row.floats {
            place.compare("f32", &mut predictor, floats)?;
        }
        if let Some(words) = row.words {
            place.compare("i16", &mut predictor, words)?;
        }
        if let Some(bytes) = row.bytes {
            place.compare("u8", &mut predictor, bytes)?;
        }
    }
    Ok(())
}

/// A row of a model and the scores it must give.
struct Place<'c> {
    name: &'static str,
    form: &'static str,
    row: usize,
    expected: &'static [i32],
    count: &'c mut Count,
}

impl Place<'_> {
    fn compare<I: Input, B: Buffers, P: Profile>(
        &mut self,
        kind: &str,
        predictor: &mut Predictor<'_, B, P>,
        row: &[I],
    ) -> Result<(), Failure<'static>> {
        let Place { name, form, row: number, expected, .. } = *self;
        let scores = predictor.scores(row).map_err(|error| Failure::Model(name, error))?;
        if scores.len() != expected.len() {
            return Err(Failure::Scores(name, expected.len(), scores.len()));
        }
        for (output, (expected, actual)) in expected.iter().zip(scores).enumerate() {
            if expected == actual {
                self.count.scores += 1;
            } else {
                println!(
                    "model {name}, {form}, row {number} as {kind}, output {output}: \
                     expected {expected}, actual {actual}"
                );
                self.count.differences += 1;
            }
        }
        Ok(())
    }
}
