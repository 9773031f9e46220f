//! The lines that a device writes.

use core::ops::Range;

use koan::{BufferSizes, Error, Model, Task, class_of};
use serde::{Serialize, Serializer};

use crate::refusal::Refusal;
use crate::{PROTOCOL, Sampled};

/// What a request is answered with. Scores lie in the working memory.
#[derive(Debug)]
pub(crate) enum Reply {
    Scores,
    Info,
    SelfTest,
    /// Where the blob is, once the model is to come into force.
    Model {
        received: u32,
        size: u32,
        in_force: Option<Range<usize>>,
    },
    /// Where the numbers of a sample are: in the row's memory.
    Sample,
    RestartedStream,
    Learned {
        changed: bool,
    },
    /// Whether there was something to forget.
    Abort {
        upload: bool,
    },
}

#[derive(Serialize)]
struct Classified<'s> {
    class: u8,
    scores: &'s [i32],
}

#[derive(Serialize)]
struct Valued<'s> {
    value: f32,
    scores: &'s [i32],
}

#[derive(Serialize)]
struct Ready {
    ready: bool,
    protocol: u8,
}

#[derive(Serialize)]
struct SelfTest {
    self_test: &'static str,
}

#[derive(Serialize)]
struct Sample<'s> {
    steady: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<&'s [i32]>,
}

#[derive(Serialize)]
struct RestartedStream {
    restart_stream: &'static str,
}

#[derive(Serialize)]
struct Learned {
    learned: bool,
}

#[derive(Serialize)]
struct Aborted {
    abort: &'static str,
}

#[derive(Serialize)]
struct Refused {
    error: Refusal,
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Serialize)]
struct Received {
    received: u32,
    size: u32,
    in_force: bool,
}

/// `{"name":value}`, for the answers that are one object in another.
#[derive(Serialize)]
enum Named<T> {
    #[serde(rename = "info")]
    Info(T),
    #[serde(rename = "model")]
    Model(T),
}

/// What the device and the model in force are.
#[derive(Serialize)]
struct Info {
    protocol: u8,
    /// Version of the blob format.
    format: u8,
    /// Whether the model in force is the one that the firmware came with.
    built_in: bool,
    task: &'static str,
    inputs: u16,
    outputs: u8,
    classes: u16,
    /// Bytes of the blob.
    bytes: u32,
    seed: u64,
    check_word: u16,
    golden_digest: u32,
    /// The CRC-32 at the end of the blob.
    crc: u32,
    /// Bytes of a line, at most.
    line: u32,
    /// Bytes of an uploaded model, at most.
    model: u32,
    /// Work of its self test, at most.
    work: u32,
    /// Lengths of the buffers that an uploaded model must fit.
    buffers: Sizes,
}

#[derive(Serialize)]
struct Sizes {
    inputs: u32,
    block: u32,
    wide: u32,
    outputs: u32,
}

/// What a device has room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub line: usize,
    pub model: usize,
    pub work: u32,
    pub buffers: BufferSizes,
}

/// The answer to a row: the scores, and the class or value they stand for.
pub(crate) fn scores<'m>(model: &Model<'_>, scores: &[i32], memory: &'m mut [u8]) -> &'m [u8] {
    match model.task() {
        Task::Classification => {
            write(&Classified { class: class_of(scores) as u8, scores }, memory)
        }
        _ => {
            let first = scores.first().copied().unwrap_or(0);
            let value = first as f32 * model.score_scale();
            write(&Valued { value, scores }, memory)
        }
    }
}

/// Bytes that the longest answer of [`scores`] needs, its line feed included.
pub(crate) const fn longest(outputs: usize) -> usize {
    // {"value":-1.1754944e-38,"scores":[-2147483648, … ]}
    40 + 12 * outputs
}

/// The answer to `info`.
pub(crate) fn info<'m>(
    model: &Model<'_>,
    built_in: bool,
    device: Memory,
    memory: &'m mut [u8],
) -> &'m [u8] {
    let crc = model.blob().last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let info = Info {
        protocol: PROTOCOL,
        format: koan::format::VERSION,
        built_in,
        task: model.task().name(),
        inputs: model.inputs() as u16,
        outputs: model.outputs() as u8,
        classes: model.classes() as u16,
        bytes: model.blob().len() as u32,
        seed: model.seed(),
        check_word: model.check_word(),
        golden_digest: model.golden_digest(),
        crc,
        line: device.line as u32,
        model: device.model as u32,
        work: device.work,
        buffers: Sizes {
            inputs: device.buffers.inputs as u32,
            block: device.buffers.block as u32,
            wide: device.buffers.wide as u32,
            outputs: device.buffers.outputs as u32,
        },
    };
    write(&Named::Info(info), memory)
}

/// The answer to a self test that has passed.
pub(crate) fn self_test(memory: &mut [u8]) -> &[u8] {
    write(&SelfTest { self_test: "ok" }, memory)
}

/// The answer to a piece of a model.
pub(crate) fn received(received: u32, size: u32, in_force: bool, memory: &mut [u8]) -> &[u8] {
    write(&Named::Model(Received { received, size, in_force }), memory)
}

/// The answer to a sample.
pub(crate) fn sampled<'m>(sampled: &Sampled<'_>, memory: &'m mut [u8]) -> &'m [u8] {
    write(&Sample { steady: sampled.steady, scores: sampled.scores }, memory)
}

/// The answer to `restart_stream`.
pub(crate) fn restarted_stream(memory: &mut [u8]) -> &[u8] {
    write(&RestartedStream { restart_stream: "ok" }, memory)
}

/// The answer to `learn`.
pub(crate) fn learned(changed: bool, memory: &mut [u8]) -> &[u8] {
    write(&Learned { learned: changed }, memory)
}

/// The answer to `abort`.
pub(crate) fn aborted(upload: bool, memory: &mut [u8]) -> &[u8] {
    write(&Aborted { abort: if upload { "upload" } else { "nothing" } }, memory)
}

/// The first line of a device.
pub(crate) fn ready(checked: Result<(), Error>, memory: &mut [u8]) -> &[u8] {
    match checked {
        Ok(()) => write(&Ready { ready: true, protocol: PROTOCOL }, memory),
        Err(error) => refused(Refusal::BuiltIn(error), memory),
    }
}

/// The answer to a line that is longer than the memory.
pub(crate) fn too_long(memory: &mut [u8]) -> &[u8] {
    refused(Refusal::TooLong { room: memory.len() }, memory)
}

/// The answer to what cannot be done.
pub(crate) fn refused(error: Refusal, memory: &mut [u8]) -> &[u8] {
    write(&Refused { error }, memory)
}

/// `answer` and a line feed.
fn write<'m>(answer: &impl Serialize, memory: &'m mut [u8]) -> &'m [u8] {
    const NO_ROOM: &[u8] = b"{\"error\":\"the answer is longer than a line\"}\n";
    let Some(room) = memory.len().checked_sub(1) else { return NO_ROOM };
    // Sizes are checked before a model comes into force.
    let Ok(length) = serde_json_core::to_slice(answer, &mut memory[..room]) else {
        return NO_ROOM;
    };
    memory[length] = b'\n';
    &memory[..=length]
}
