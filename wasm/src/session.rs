//! A loaded model and the memory that it shares with JavaScript.

use alloc::boxed::Box;
use alloc::vec::Vec;

use bytemuck::cast_slice;
use koan::format::section;
use koan::{Error, Model, Predictor};
use self_cell::self_cell;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::heap::{Full, HeapBuffers, zeros};
use crate::run::{Call, run};

/// Rows are staged and results are handed over in about this many bytes, so
/// that a batch of any length needs no more memory than this.
const STAGE_BYTES: usize = 1 << 15;

/// Returned by a call that failed.
const FAILED: i32 = -1;

/// Bytes that lie in whole words.
pub struct Bytes {
    words: Vec<u64>,
    length: usize,
}

impl Bytes {
    fn zeros(length: usize) -> Result<Self, Full> {
        Ok(Self { words: zeros(length)?, length })
    }

    fn as_slice(&self) -> &[u8] {
        let bytes = cast_slice(&self.words);
        bytes.get(..self.length).unwrap_or(bytes)
    }
}

type Run<'m> = Predictor<'m, HeapBuffers>;

self_cell!(
    struct Loaded {
        owner: Bytes,
        #[not_covariant]
        dependent: Run,
    }
);

/// Why a call failed.
enum Failure {
    Core(Error),
    Text(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self::Text("out of memory")
    }
}

/// What JavaScript reads of a session, as one block of words: addresses and
/// lengths in this memory, and the numbers of [`Model`]. `js/session.ts` has the
/// same order.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Shared {
    /// Where rows are written: f32, one after the other.
    staged: u32,
    staged_bytes: u32,
    /// Where results are read.
    results: u32,
    results_bytes: u32,
    /// Why the last failed call failed: see [`Session::fail`].
    text: u32,
    text_bytes: u32,
    kind: u32,
    numbers: [u32; 2],
    task: u32,
    inputs: u32,
    outputs: u32,
    classes: u32,
    features: u32,
    bytes: u32,
    buffer_bytes: u32,
    score_scale: f32,
    seed: [u32; 2],
    /// The names of the classes, separated by line feeds.
    names: u32,
    names_bytes: u32,
    notes: u32,
    notes_bytes: u32,
}

/// A model from its blob's bytes on, and its buffers.
#[wasm_bindgen]
pub struct Session {
    given: Bytes,
    loaded: Option<Loaded>,
    staged: Vec<u64>,
    results: Vec<u64>,
    shared: Box<Shared>,
    #[cfg(feature = "json")]
    answer: Vec<u8>,
}

#[wasm_bindgen]
impl Session {
    /// No model yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self {
            given: Bytes { words: Vec::new(), length: 0 },
            loaded: None,
            staged: Vec::new(),
            results: Vec::new(),
            shared: Box::default(),
            #[cfg(feature = "json")]
            answer: Vec::new(),
        }
    }

    /// Where the shared words are.
    pub fn shared(&self) -> *const u32 {
        (&raw const *self.shared).cast()
    }

    /// Makes room for `bytes` bytes, the argument of the next call, and says
    /// where; 0 if there is none.
    pub fn room(&mut self, bytes: usize) -> *const u64 {
        match Bytes::zeros(bytes) {
            Ok(given) => {
                self.given = given;
                self.given.words.as_ptr()
            }
            Err(full) => {
                self.fail(full.into());
                core::ptr::null()
            }
        }
    }

    /// Loads the given blob.
    pub fn load(&mut self) -> i32 {
        let blob = core::mem::replace(&mut self.given, Bytes { words: Vec::new(), length: 0 });
        let loaded = Loaded::try_new(blob, |blob| -> Result<Run<'_>, Failure> {
            let model = Model::parse(blob.as_slice())?;
            let buffers = HeapBuffers::new(model.buffer_sizes())?;
            Ok(Predictor::new(model, buffers)?)
        });
        let result = loaded.and_then(|loaded| {
            loaded.with_dependent(|_, predictor| self.describe(predictor.model()))?;
            self.loaded = Some(loaded);
            Ok(())
        });
        self.finish(result)
    }

    /// Runs `call` on the `rows` staged rows of `length` numbers each.
    pub fn run(&mut self, call: u32, rows: usize, length: usize) -> i32 {
        let staged = cast_slice::<u64, f32>(&self.staged);
        let staged = staged.get(..rows.saturating_mul(length)).unwrap_or(staged);
        let results = &mut self.results;
        let result = with(&mut self.loaded, |predictor| {
            let needed = predictor.model().inputs();
            if length != needed {
                return Err(Error::Length { what: "row", needed, given: length });
            }
            run(predictor, Call::from_code(call), staged, length, results)
        });
        self.finish(result)
    }

    /// Answers the given row of JSON; the answer is the shared text.
    #[cfg(feature = "json")]
    pub fn json(&mut self) -> i32 {
        let Some(loaded) = &mut self.loaded else {
            return self.fail(Failure::Text("no model is loaded"));
        };
        let (text, staged) = (self.given.as_slice(), &mut self.staged);
        let row = bytemuck::cast_slice_mut::<u64, f32>(staged);
        let answer =
            loaded.with_dependent_mut(|_, predictor| crate::json::answer(predictor, text, row));
        match answer {
            Ok(answer) => {
                self.answer = answer;
                self.shared.text = self.answer.as_ptr() as u32;
                self.shared.text_bytes = self.answer.len() as u32;
                0
            }
            Err(crate::json::Failure::Core(error)) => self.fail(Failure::Core(error)),
            Err(crate::json::Failure::Text(text)) => self.fail(Failure::Text(text)),
            Err(crate::json::Failure::Memory) => self.fail(Full.into()),
        }
    }

    /// Runs the self test.
    pub fn self_test(&mut self) -> i32 {
        let result = with(&mut self.loaded, |predictor| predictor.self_test());
        self.finish(result)
    }
}

fn with(
    loaded: &mut Option<Loaded>,
    call: impl FnOnce(&mut Run<'_>) -> Result<(), Error>,
) -> Result<(), Failure> {
    match loaded {
        Some(loaded) => {
            loaded.with_dependent_mut(|_, predictor| call(predictor)).map_err(Failure::Core)
        }
        None => Err(Failure::Text("no model is loaded")),
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// Makes the buffers that are shared, and fills in the shared words.
    fn describe(&mut self, model: &Model<'_>) -> Result<(), Full> {
        let result = (2 * model.features()).max(4 * model.outputs().max(2));
        self.staged = zeros((4 * model.inputs()).max(STAGE_BYTES))?;
        self.results = zeros(result.max(STAGE_BYTES))?;
        // As bytes: JavaScript decodes UTF-8, and is there already.
        let names = model.section(section::CLASS_NAMES);
        let notes = model.section(section::NOTES);
        let seed = model.seed();
        *self.shared = Shared {
            staged: self.staged.as_ptr() as u32,
            staged_bytes: 8 * self.staged.len() as u32,
            results: self.results.as_ptr() as u32,
            results_bytes: 8 * self.results.len() as u32,
            task: model.task() as u32,
            inputs: model.inputs() as u32,
            outputs: model.outputs() as u32,
            classes: model.classes() as u32,
            features: model.features() as u32,
            bytes: model.blob().len() as u32,
            buffer_bytes: model.buffer_sizes().bytes() as u32,
            score_scale: model.score_scale(),
            seed: [seed as u32, (seed >> 32) as u32],
            names: names.as_ptr() as u32,
            names_bytes: names.len() as u32,
            notes: notes.as_ptr() as u32,
            notes_bytes: notes.len() as u32,
            ..Shared::default()
        };
        Ok(())
    }

    fn finish(&mut self, result: Result<(), Failure>) -> i32 {
        match result {
            Ok(()) => 0,
            Err(failure) => self.fail(failure),
        }
    }

    /// Shares a failure: its kind, its text and its numbers. The sentence is
    /// put together in JavaScript (`js/message.ts`), where formatting is free.
    fn fail(&mut self, failure: Failure) -> i32 {
        let (kind, text, a, b) = match failure {
            Failure::Text(text) => (0, text, 0, 0),
            Failure::Core(Error::NotBuilt { feature }) => (9, feature.name(), 0, 0),
            Failure::Core(error) => {
                let (kind, a, b) = match error {
                    Error::Truncated { offset, .. } => (1, offset, 0),
                    Error::Field { offset, .. } => (2, offset, 0),
                    Error::Version { found } => (3, usize::from(found), 0),
                    Error::RequiredSection { tag, offset } => (4, usize::from(tag), offset),
                    Error::Generator { expected, actual } => {
                        (5, usize::from(expected), usize::from(actual))
                    }
                    Error::Length { needed, given, .. } => (6, needed, given),
                    Error::Unsuited { .. } => (7, 0, 0),
                    Error::SelfTest { row, .. } => (8, row, 0),
                    // The message says it all.
                    _ => (0, 0, 0),
                };
                (kind, error.message(), a, b)
            }
        };
        self.shared.kind = kind;
        self.shared.numbers = [a as u32, b as u32];
        self.share(text.as_bytes());
        FAILED
    }

    fn share(&mut self, text: &[u8]) {
        self.shared.text = text.as_ptr() as u32;
        self.shared.text_bytes = text.len() as u32;
    }
}
