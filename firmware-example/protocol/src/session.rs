//! Requests answered under one model.

use core::ops::Range;

use heapless::Vec;
use koan::{BufferSizes, Buffers, Error, GOLDEN_DIGEST_ROWS, Limits, Model, Predictor};
use koan_sign::{Envelope, HEADER, OVERHEAD, PublicKey, Verify};

use crate::answer::{self, Memory, Reply};
use crate::line::Line;
use crate::refusal::Refusal;
use crate::request::{Chunk, Request, parse};
use crate::upload::Upload;

/// The time during which one model is in force.
pub(crate) struct Session<'s, B> {
    pub model: Model<'s>,
    pub built_in: bool,
    /// Where a new model gathers.
    pub spare: &'s mut [u8],
    pub upload: &'s mut Upload,
    pub buffers: &'s mut B,
    pub room: Room,
    /// Where models must be signed.
    pub signed: Option<&'s mut Signed>,
}

/// Whose models are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    pub keys: &'static [PublicKey],
    pub verify: Verify,
    /// The lowest counter.
    pub least: u32,
}

/// What a model may need besides its buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Numbers of a row.
    pub row: usize,
    /// Bytes of a line.
    pub line: usize,
    /// Work between a line and its answer.
    pub work: u32,
}

impl<B: Buffers> Session<'_, B> {
    /// Answers a whole line, in its own memory; with the place of a new model
    /// that is good and is to come into force.
    pub fn answer<'l, const LINE: usize, const ROW: usize>(
        &mut self,
        line: &'l mut Line<LINE>,
        row: &mut Vec<f32, ROW>,
    ) -> (&'l [u8], Option<Range<usize>>) {
        let reply = parse(line.bytes(), row).and_then(|request| match request {
            Request::Row { given } => self.row(row, given),
            Request::Info => Ok(Reply::Info),
            Request::SelfTest => self.self_test(),
            Request::Model(chunk) => self.chunk(chunk),
        });
        let memory = line.memory();
        let answer = match reply {
            Ok(Reply::Scores) => {
                let scores = self.buffers.workspace().sums.as_flattened();
                let scores = scores.get(..self.model.outputs()).unwrap_or_default();
                answer::scores(&self.model, scores, memory)
            }
            Ok(Reply::Info) => {
                let device = self.memory();
                answer::info(&self.model, self.built_in, device, memory)
            }
            Ok(Reply::SelfTest) => answer::self_test(memory),
            Ok(Reply::Model { received, size, in_force }) => {
                let answer = answer::received(received, size, in_force, memory);
                let first = if self.signed.is_some() { HEADER } else { 0 };
                return (answer, in_force.then(|| first..first + self.blob_of(size as usize)));
            }
            Err(error) => answer::refused(error, memory),
        };
        (answer, None)
    }

    /// Puts the scores of a row into the working memory.
    fn row(&mut self, row: &[f32], given: usize) -> Result<Reply, Refusal> {
        let needed = self.model.inputs();
        if given != needed {
            return Err(Refusal::Core(Error::Length { what: "row", needed, given }));
        }
        self.predictor()?.scores(row).map_err(Refusal::Core)?;
        Ok(Reply::Scores)
    }

    fn self_test(&mut self) -> Result<Reply, Refusal> {
        self.predictor()?.self_test().map_err(Refusal::Core)?;
        Ok(Reply::SelfTest)
    }

    /// Joins model and working memory: some comparisons and two draws, far less
    /// than a row costs. So the memory is free for the check of a new model.
    fn predictor(&mut self) -> Result<Predictor<'_, koan::Workspace<'_>>, Refusal> {
        Predictor::new(self.model, self.buffers.workspace()).map_err(Refusal::Core)
    }

    fn chunk(&mut self, chunk: Chunk<'_>) -> Result<Reply, Refusal> {
        let (received, size) = self.upload.take(chunk, self.spare)?;
        let in_force = received == size;
        if in_force {
            self.upload.clear();
            let mut blob = self.spare.get(..size).unwrap_or_default();
            let mut counter = 0;
            if let Some(Signed { keys, verify, least }) = self.signed.as_deref() {
                let found =
                    Envelope::open(blob, keys, *least, *verify).map_err(Refusal::Envelope)?;
                (blob, counter) = (found.blob, found.counter);
            }
            Model::parse_within(blob, Limits { work: self.room.work, ..Limits::NONE })
                .and_then(|model| check(model, self.buffers, self.room))
                .map_err(Refusal::Model)?;
            if let Some(signed) = &mut self.signed {
                signed.least = counter.saturating_add(1);
            }
        }
        Ok(Reply::Model { received: received as u32, size: size as u32, in_force })
    }

    /// Bytes of the blob in so many that have come.
    fn blob_of(&self, size: usize) -> usize {
        if self.signed.is_some() { size.saturating_sub(OVERHEAD) } else { size }
    }

    fn memory(&mut self) -> Memory {
        let workspace = self.buffers.workspace();
        Memory {
            line: self.room.line,
            model: self.spare.len(),
            work: self.room.work,
            buffers: BufferSizes {
                inputs: workspace.inputs.len(),
                block: workspace.block.len(),
                wide: workspace.wide.len(),
                outputs: workspace.sums.len(),
            },
        }
    }
}

/// Whether a model fits the device and this build computes what it should. What the check
/// itself costs is known beforehand.
pub(crate) fn check(model: Model<'_>, buffers: &mut impl Buffers, room: Room) -> Result<(), Error> {
    let fits = |buffer, needed, given| {
        if needed <= given { Ok(()) } else { Err(Error::Buffer { buffer, needed, given }) }
    };
    fits("row", model.inputs(), room.row)?;
    fits("line", answer::longest(model.outputs()), room.line)?;
    let rows = model.golden_rows().saturating_add(GOLDEN_DIGEST_ROWS);
    let needed = model.work().saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX));
    if needed > room.work {
        return Err(Error::Limit { what: "work in its self test", needed, limit: room.work });
    }
    Predictor::new(model, buffers.workspace())?.self_test()
}
