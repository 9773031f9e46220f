//! Loaded models and the memory that they share with JavaScript.

use alloc::boxed::Box;

use bytemuck::cast_slice;
use koan::format::section;
use koan::{Error, Model, Predictor};
use spin::Mutex;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::heap::{Full, Memory, zeros};

/// Returned by a call that failed.
const FAILED: i32 = -1;

/// What is asked of a session: the numbers are what JavaScript passes. Any other
/// number asks for the scores of the row.
const FEATURES: u32 = 1;
const SELF_TEST: u32 = 2;
const LOAD: u32 = 3;
#[cfg(feature = "json")]
const ROOM: u32 = 4;
#[cfg(feature = "json")]
const JSON: u32 = 5;

/// Why a call failed.
enum Failure {
    Core(Error),
    Memory,
    #[cfg(feature = "json")]
    Text(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

#[cfg(feature = "json")]
impl From<crate::json::Failure> for Failure {
    fn from(failure: crate::json::Failure) -> Self {
        match failure {
            crate::json::Failure::Core(error) => Self::Core(error),
            crate::json::Failure::Text(text) => Self::Text(text),
            crate::json::Failure::Memory => Self::Memory,
        }
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self::Memory
    }
}

/// What JavaScript reads of a session, as one block of words: addresses and
/// lengths in this memory, and the numbers of [`Model`]. `js/session.ts` has the
/// same order.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Shared {
    /// Where the blob is written, or a row of JSON.
    given: u32,
    /// Where a row is written (f32), its scores are read (i32), and its features (i16).
    places: [u32; 3],
    /// Why the last failed call failed: see [`Session::fail`].
    text: [u32; 2],
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
    /// The calibration of the probabilities.
    slope: f32,
    intercept: f32,
    seed: [u32; 2],
    /// The names of the classes, separated by line feeds.
    names: [u32; 2],
    notes: [u32; 2],
}

/// A model from its blob's bytes on, and its memory.
struct Session {
    shared: Shared,
    /// The blob, in whole words.
    blob: Box<[u64]>,
    /// Without its bytes, which it cannot borrow here: [`Model::moved`] joins them.
    model: Option<Model<'static>>,
    memory: Memory,
    #[cfg(feature = "json")]
    row: Box<[u64]>,
    #[cfg(feature = "json")]
    answer: alloc::vec::Vec<u8>,
    next: Option<Box<Session>>,
}

/// All sessions: few, so a list will do.
static SESSIONS: Mutex<Option<Box<Session>>> = Mutex::new(None);

/// The place in the list of the session at `address`; its end if there is none.
fn find(mut place: &mut Option<Box<Session>>, address: *const u32) -> &mut Option<Box<Session>> {
    while place.as_ref().is_some_and(|session| session.address() != address) {
        let Some(session) = place else { break };
        place = &mut session.next;
    }
    place
}

/// A new session with room for a blob of `bytes` bytes: the address of its shared
/// words, by which it is known from now on. 0 when there is no memory left.
#[wasm_bindgen]
pub fn open(bytes: usize) -> *const u32 {
    let Ok(blob) = zeros(bytes) else { return core::ptr::null() };
    let mut list = SESSIONS.lock();
    let next = list.take();
    let shared = Shared { given: blob.as_ptr() as u32, bytes: bytes as u32, ..Shared::default() };
    list.insert(Box::new(Session {
        shared,
        blob,
        model: None,
        memory: Memory::default(),
        #[cfg(feature = "json")]
        row: Box::default(),
        #[cfg(feature = "json")]
        answer: alloc::vec::Vec::new(),
        next,
    }))
    .address()
}

/// Ends a session and gives its memory back.
#[wasm_bindgen]
pub fn close(session: *const u32) {
    let mut list = SESSIONS.lock();
    let place = find(&mut list, session);
    if let Some(session) = place.take() {
        *place = session.next;
    }
}

/// Carries out `call`; `bytes` is the length of a text of JSON. 0, or -1 for a
/// failure that the shared words tell of.
#[wasm_bindgen]
pub fn call(session: *const u32, call: u32, bytes: usize) -> i32 {
    match find(&mut SESSIONS.lock(), session) {
        Some(session) => session.call(call, bytes),
        None => FAILED,
    }
}

/// The first `bytes` bytes of words.
fn bytes_of(words: &[u64], bytes: usize) -> &[u8] {
    cast_slice(words).get(..bytes).unwrap_or_default()
}

impl Session {
    fn address(&self) -> *const u32 {
        (&raw const self.shared).cast()
    }

    #[cfg_attr(not(feature = "json"), expect(unused_variables, reason = "for JSON"))]
    fn call(&mut self, call: u32, bytes: usize) -> i32 {
        let result = match call {
            LOAD => self.load(),
            #[cfg(feature = "json")]
            ROOM => self.room(bytes),
            #[cfg(feature = "json")]
            JSON => self.json(bytes),
            _ => self.run(call),
        };
        match result {
            Ok(()) => 0,
            Err(failure) => {
                self.fail(failure);
                FAILED
            }
        }
    }

    /// Loads the given blob, makes its memory, and fills in the shared words.
    fn load(&mut self) -> Result<(), Failure> {
        let model = Model::parse(bytes_of(&self.blob, self.shared.bytes as usize))?;
        self.memory.fill(&model)?;
        let shared = &mut self.shared;
        shared.places = self.memory.places();
        Predictor::new(model, self.memory.parts().2)?;
        let seed = model.seed();
        shared.task = model.task() as u32;
        shared.inputs = model.inputs() as u32;
        shared.outputs = model.outputs() as u32;
        shared.classes = model.classes() as u32;
        shared.features = model.features() as u32;
        shared.buffer_bytes = model.buffer_sizes().bytes() as u32;
        shared.score_scale = model.score_scale();
        shared.slope = 1.0;
        if let Some(calibration) = model.calibration() {
            (shared.slope, shared.intercept) = (calibration.slope, calibration.intercept);
        }
        shared.seed = [seed as u32, (seed >> 32) as u32];
        shared.names = place(model.section(section::CLASS_NAMES));
        shared.notes = place(model.section(section::NOTES));
        self.model = Some(model.moved(&[]));
        Ok(())
    }

    /// Scores or features of the row, or the self test.
    fn run(&mut self, call: u32) -> Result<(), Failure> {
        let Some(model) = &self.model else { return Ok(()) };
        let model = model.moved(bytes_of(&self.blob, self.shared.bytes as usize));
        let (row, features, workspace) = self.memory.parts();
        let row = row.get(..model.inputs()).unwrap_or_default();
        let mut predictor = Predictor::new(model, workspace)?;
        match call {
            SELF_TEST => predictor.self_test()?,
            FEATURES => {
                let features = features.get_mut(..self.shared.features as usize);
                predictor.features(row, features.unwrap_or_default())?;
            }
            _ => {
                predictor.scores(row)?;
            }
        }
        Ok(())
    }

    /// Makes room for a row of JSON.
    #[cfg(feature = "json")]
    fn room(&mut self, bytes: usize) -> Result<(), Failure> {
        self.row = zeros(bytes)?;
        self.shared.given = self.row.as_ptr() as u32;
        Ok(())
    }

    /// Answers the given row of JSON; the answer is the shared text.
    #[cfg(feature = "json")]
    fn json(&mut self, bytes: usize) -> Result<(), Failure> {
        let Some(model) = &self.model else { return Ok(()) };
        let model = model.moved(bytes_of(&self.blob, self.shared.bytes as usize));
        let (row, _, workspace) = self.memory.parts();
        let mut predictor = Predictor::new(model, workspace)?;
        let text = bytes_of(&self.row, bytes);
        self.answer = crate::json::answer(&mut predictor, text, row)?;
        self.shared.text = place(&self.answer);
        Ok(())
    }

    /// Shares a failure: its kind, its numbers, and its text where it has one. The
    /// sentence is put together in JavaScript (`js/message.ts`, which has the same
    /// kinds), where formatting is free.
    fn fail(&mut self, failure: Failure) {
        let (kind, a, b, text) = match failure {
            Failure::Memory => (0, 0, 0, ""),
            #[cfg(feature = "json")]
            Failure::Text(text) => (1, 0, 0, text),
            Failure::Core(error) => match error {
                Error::Truncated { field, offset } => (2, field as usize, offset, ""),
                Error::Field { field, offset } => (3, field as usize, offset, ""),
                Error::Version { found } => (4, usize::from(found), 0, ""),
                Error::RequiredSection { tag, offset } => (5, usize::from(tag), offset, ""),
                Error::Generator { expected, actual } => {
                    (6, usize::from(expected), usize::from(actual), "")
                }
                Error::NotKoan => (7, 0, 0, ""),
                Error::Checksum => (8, 0, 0, ""),
                Error::NotBuilt { feature } => (9, feature as usize, 0, ""),
                Error::Unsuited { needs } => (10, 0, 0, needs),
                Error::SelfTest { check, row } => (11, row, 0, check),
                #[cfg(feature = "json")]
                Error::Length { what, needed, given } => (12, needed, given, what),
                // Nothing else: rows are measured in JavaScript, memory is made here.
                _ => (13, 0, 0, ""),
            },
        };
        self.shared.kind = kind;
        self.shared.numbers = [a as u32, b as u32];
        self.shared.text = place(text.as_bytes());
    }
}

/// The address of numbers and how many bytes they are.
fn place<T>(numbers: &[T]) -> [u32; 2] {
    [numbers.as_ptr() as u32, size_of_val(numbers) as u32]
}
