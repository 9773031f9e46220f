//! The passes that sum up over the training rows, with checkpoints.

use koan_data::ReadOptions;
use koan_data::stream::{Block, for_each_block};
use web_time::Instant;

use super::StreamOptions;
use super::checkpoint::Checkpoint;
use crate::Error;
use crate::distributed::{Descent, Gradients, Plan, Sums};
use crate::progress::Progress;

/// What all passes have in common.
pub(super) struct Passes<'p> {
    pub stream: &'p StreamOptions,
    pub plan: &'p Plan,
    /// How the files are read.
    pub read: &'p ReadOptions,
    /// Rows of the files.
    pub rows: u64,
    pub progress: &'p Progress,
}

impl Passes<'_> {
    /// The sums of all training rows, from where the checkpoint is.
    pub fn sums(&self, checkpoint: &mut Checkpoint) -> Result<Sums, Error> {
        let plan = self.plan;
        let mut sums = match checkpoint.sums.take() {
            Some(bytes) => Sums::from_bytes(plan, &bytes).map_err(|error| self.useless(&error))?,
            None => Sums::new(plan),
        };
        // A descent has begun: the sums are whole.
        if checkpoint.descent.is_some() {
            return Ok(sums);
        }
        self.progress.phase("computing features")?;
        let add = |sums: &mut Sums, block: &Block| sums.add(plan, block.into());
        self.pass(checkpoint, &mut sums, add, |checkpoint, sums| {
            checkpoint.sums = sums.map(Sums::to_bytes).transpose()?;
            Ok(())
        })?;
        Ok(sums)
    }

    /// The descent to the least logistic loss, from where the checkpoint is.
    pub fn descent(&self, checkpoint: &mut Checkpoint) -> Result<Descent, Error> {
        let (plan, progress) = (self.plan, self.progress);
        let sums = self.sums(checkpoint)?;
        let mut descent = match checkpoint.descent.take() {
            Some(bytes) => {
                Descent::from_bytes(plan, &sums, &bytes).map_err(|error| self.useless(&error))?
            }
            None => {
                checkpoint.next = 0;
                Descent::new(plan, &sums, progress)?
            }
        };
        checkpoint.sums = Some(sums.to_bytes()?);
        drop(sums);
        while !descent.is_done() {
            checkpoint.descent = Some(descent.to_bytes()?);
            progress.phase("computing gradients")?;
            let step = descent.step();
            let mut gradients = match checkpoint.gradients.take() {
                Some(bytes) => Gradients::from_bytes(plan, step, &bytes)
                    .map_err(|error| self.useless(&error))?,
                None => {
                    checkpoint.save(&self.stream.checkpoint)?;
                    Gradients::new(plan, step)
                }
            };
            let add = |sums: &mut Gradients, block: &Block| sums.add(plan, step, block.into());
            self.pass(checkpoint, &mut gradients, add, |checkpoint, gradients| {
                checkpoint.gradients = gradients.map(Gradients::to_bytes).transpose()?;
                Ok(())
            })?;
            descent.advance(plan, &gradients, progress)?;
            (checkpoint.next, checkpoint.gradients) = (0, None);
        }
        checkpoint.descent = Some(descent.to_bytes()?);
        checkpoint.save(&self.stream.checkpoint)?;
        Ok(descent)
    }

    /// Adds all rows that are not in the sums yet, and writes them down from time to time and in
    /// the end. `write` puts sums into a checkpoint, or takes them out.
    fn pass<S>(
        &self,
        checkpoint: &mut Checkpoint,
        sums: &mut S,
        mut add: impl FnMut(&mut S, &Block) -> Result<(), Error>,
        write: impl Fn(&mut Checkpoint, Option<&S>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { stream, plan, read, rows, progress } = self;
        let mut written = Instant::now();
        let mut interval = stream.interval;
        let next = checkpoint.next;
        let add = |block: Block| -> Result<(), Error> {
            add(sums, &block)?;
            checkpoint.next = block.next;
            progress.rows(block.next as usize, *rows as usize)?;
            if written.elapsed() >= interval {
                let before = Instant::now();
                write(checkpoint, Some(sums))?;
                checkpoint.save(&stream.checkpoint)?;
                write(checkpoint, None)?;
                written = Instant::now();
                // Large sums are written less often: a twentieth of the time.
                interval = interval.max(20 * (written - before));
            }
            Ok(())
        };
        for_each_block(&stream.files, plan.schema(), read, next, add)?;
        write(checkpoint, Some(sums))?;
        checkpoint.save(&stream.checkpoint)?;
        write(checkpoint, None)
    }

    /// A checkpoint whose sums cannot be read.
    fn useless(&self, error: &Error) -> Error {
        Error::Checkpoint {
            file: self.stream.checkpoint.display().to_string(),
            problem: format!("of no use: {error}; delete it"),
        }
    }
}
