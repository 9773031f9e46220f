//! A model that was tried.

use crate::TrainOptions;

/// What a model is made with, what a device needs for it, and how good it is on held-out rows: what
/// a search and shrinking compare.
#[derive(Clone, Debug)]
pub struct Point {
    /// What `train` is to be given. Of a model that another one was shrunk to, what is its own:
    /// seed, loss, class weights, bits, and the features and candidates of all banks together.
    pub options: TrainOptions,
    /// Bytes of the blob.
    pub bytes: usize,
    /// Bytes of the core's buffers.
    pub ram: usize,
    /// Predicted instructions, of shrinking on a Cortex-M0.
    pub instructions: u64,
    /// Loss by the metric; of shrinking the error, with rows counted by their weights, or of
    /// balanced classes the mean over the classes.
    pub loss: f64,
    /// What points of a search are compared by: see `tune::rank`.
    pub(crate) value: f64,
}

impl Point {
    /// Of a model that has not been judged.
    pub(crate) fn new(options: TrainOptions, bytes: usize, ram: usize, instructions: u64) -> Self {
        let (loss, value) = (f64::INFINITY, f64::INFINITY);
        Self { options, bytes, ram, instructions, loss, value }
    }
}
