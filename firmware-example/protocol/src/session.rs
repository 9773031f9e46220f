//! Requests answered under one model.

use heapless::Vec;
use koan::{BufferSizes, Buffers, Error, Model, Predictor};

use crate::answer::{self, Limits, Reply};
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
}

impl<B: Buffers> Session<'_, B> {
    /// Answers a whole line, in its own memory; with the length of a new model
    /// that is good and is to come into force.
    pub fn answer<'l, const LINE: usize, const ROW: usize>(
        &mut self,
        line: &'l mut Line<LINE>,
        row: &mut Vec<f32, ROW>,
    ) -> (&'l [u8], Option<usize>) {
        let reply = parse(line.bytes(), row).and_then(|request| match request {
            Request::Row { given } => self.row(row, given),
            Request::Info => Ok(Reply::Info),
            Request::SelfTest => self.self_test(),
            Request::Model(chunk) => self.chunk(chunk, ROW, LINE),
        });
        let memory = line.memory();
        let answer = match reply {
            Ok(Reply::Scores) => {
                let scores = self.buffers.workspace().sums.as_flattened();
                let scores = scores.get(..self.model.outputs()).unwrap_or_default();
                answer::scores(&self.model, scores, memory)
            }
            Ok(Reply::Info) => {
                let limits = self.limits(LINE);
                answer::info(&self.model, self.built_in, limits, memory)
            }
            Ok(Reply::SelfTest) => answer::self_test(memory),
            Ok(Reply::Model { received, size, in_force }) => {
                let answer = answer::received(received, size, in_force, memory);
                return (answer, in_force.then_some(size as usize));
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

    fn chunk(&mut self, chunk: Chunk<'_>, row: usize, line: usize) -> Result<Reply, Refusal> {
        let (received, size) = self.upload.take(chunk, self.spare)?;
        let in_force = received == size;
        if in_force {
            self.upload.clear();
            let blob = self.spare.get(..size).unwrap_or_default();
            Model::parse(blob)
                .and_then(|model| check(model, self.buffers, row, line))
                .map_err(Refusal::Model)?;
        }
        Ok(Reply::Model { received: received as u32, size: size as u32, in_force })
    }

    fn limits(&mut self, line: usize) -> Limits {
        let workspace = self.buffers.workspace();
        Limits {
            line,
            model: self.spare.len(),
            buffers: BufferSizes {
                inputs: workspace.inputs.len(),
                block: workspace.block.len(),
                wide: workspace.wide.len(),
                outputs: workspace.sums.len(),
            },
        }
    }
}

/// Whether a model fits the device and this build computes what it should.
pub(crate) fn check(
    model: Model<'_>,
    buffers: &mut impl Buffers,
    row: usize,
    line: usize,
) -> Result<(), Error> {
    let room = |buffer, needed, given| {
        if needed <= given { Ok(()) } else { Err(Error::Buffer { buffer, needed, given }) }
    };
    room("row", model.inputs(), row)?;
    room("line", answer::longest(model.outputs()), line)?;
    Predictor::new(model, buffers.workspace())?.self_test()
}
