//! Requests answered under one model.

use core::ops::Range;

use heapless::Vec;
use koan::{BufferSizes, Buffers, Error, GOLDEN_DIGEST_ROWS, Limits, Model, Predictor};
use koan_sign::{Envelope, HEADER, PublicKey, Verify};

use crate::Port;
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
        port: &mut impl Port,
    ) -> (&'l [u8], Option<Range<usize>>) {
        let reply = parse(line.bytes(), row).and_then(|request| match request {
            Request::Row { given } => self.row(row, given),
            Request::Sample { given } => self.sample(row, given),
            Request::RestartStream => {
                if port.restart() {
                    Ok(Reply::RestartedStream)
                } else {
                    Err(Refusal::NoStream)
                }
            }
            Request::Learn { class } => self.learn(class, port),
            Request::Info => Ok(Reply::Info),
            Request::SelfTest => self.self_test(),
            Request::Model(chunk) => self.chunk(chunk, port),
            Request::Abort => Ok(Reply::Abort { upload: self.upload.clear() }),
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
                let answer = answer::received(received, size, in_force.is_some(), memory);
                return (answer, in_force);
            }
            Ok(Reply::Sample) => match port.sample(row) {
                Some(Ok(sampled)) => answer::sampled(&sampled, memory),
                Some(Err(error)) => answer::refused(Refusal::Core(error), memory),
                None => answer::refused(Refusal::NoStream, memory),
            },
            Ok(Reply::RestartedStream) => answer::restarted_stream(memory),
            Ok(Reply::Learned { changed }) => answer::learned(changed, memory),
            Ok(Reply::Abort { upload }) => answer::aborted(upload, memory),
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
        // An uploaded one was refused; the firmware's own is not.
        let (needed, limit) = (self.model.work(), self.room.work);
        if needed > limit {
            return Err(Refusal::Core(Error::Limit { what: "work", needed, limit }));
        }
        self.predictor()?.scores(row).map_err(Refusal::Core)?;
        Ok(Reply::Scores)
    }

    /// Whether a sample may go to the firmware's stream.
    fn sample(&self, row: &[f32], given: usize) -> Result<Reply, Refusal> {
        if given != row.len() {
            return Err(Refusal::Sample { numbers: given, room: row.len() });
        }
        self.of_stream()?;
        Ok(Reply::Sample)
    }

    fn learn(&self, class: u8, port: &mut impl Port) -> Result<Reply, Refusal> {
        self.of_stream()?;
        let changed = port.learn(class).ok_or(Refusal::NoStream)?.map_err(Refusal::Core)?;
        Ok(Reply::Learned { changed })
    }

    fn of_stream(&self) -> Result<(), Refusal> {
        if self.built_in { Ok(()) } else { Err(Refusal::OtherModel) }
    }

    fn self_test(&mut self) -> Result<Reply, Refusal> {
        check(self.model, self.buffers, self.room).map_err(Refusal::Core)?;
        Ok(Reply::SelfTest)
    }

    /// Joins model and working memory: some comparisons and two draws, far less
    /// than a row costs. So the memory is free for the check of a new model.
    fn predictor(&mut self) -> Result<Predictor<'_, koan::Workspace<'_>>, Refusal> {
        Predictor::new(self.model, self.buffers.workspace()).map_err(Refusal::Core)
    }

    fn chunk(&mut self, chunk: Chunk<'_>, port: &mut impl Port) -> Result<Reply, Refusal> {
        let (received, size) = self.upload.take(chunk, self.spare)?;
        let mut in_force = None;
        if received == size {
            self.upload.clear();
            let model = self.spare.get(..size).unwrap_or_default();
            let signed = self.signed.as_deref();
            let (place, least) = accept(model, signed, self.buffers, self.room)?;
            if !port.keep(model) {
                return Err(Refusal::NotKept);
            }
            if let Some(signed) = &mut self.signed {
                signed.least = least;
            }
            in_force = Some(place);
        }
        Ok(Reply::Model { received: received as u32, size: size as u32, in_force })
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

/// Checks a model that is whole, in its envelope where it must be signed: where its blob is, and
/// the lowest counter of the next one.
pub(crate) fn accept(
    model: &[u8],
    signed: Option<&Signed>,
    buffers: &mut impl Buffers,
    room: Room,
) -> Result<(Range<usize>, u32), Refusal> {
    let (mut blob, mut first, mut counter) = (model, 0, 0);
    if let Some(&Signed { keys, verify, least }) = signed {
        let found = Envelope::open(model, keys, least, verify).map_err(Refusal::Envelope)?;
        (blob, first, counter) = (found.blob, HEADER, found.counter);
    }
    Model::parse_within(blob, Limits { work: room.work, ..Limits::NONE })
        .and_then(|model| check(model, buffers, room))
        .map_err(Refusal::Model)?;
    Ok((first..first + blob.len(), counter.saturating_add(1)))
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
