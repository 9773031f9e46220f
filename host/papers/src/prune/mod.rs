//! Pruning: from a sum of many terms to one of few.
//!
//! The paper is *Pruning algorithms for one-hidden-layer feedforward neural
//! networks* (Šámalová, Šámal 2008). Its algorithms approximate
//! f = Σ c_i·h_i, c_i ≥ 0, Σ c_i = 1, by the average of n of the h_i. In a
//! Hilbert space (t = 2, C = 1) they need nothing but inner products, see
//! [`Mixture`]:
//!
//! - Algorithm 2.2, [`random`]: terms drawn with probability c_i until Markov's
//!   bound holds;
//! - Algorithm 2.5, [`integral`]: features drawn with a density proportional to
//!   their weight in an integral representation;
//! - Algorithm 1.3, [`iterative`]: one term after the other, the best of the h_i;
//! - Algorithm 1.2, [`from_scratch`]: the same, the best of many candidates.
//!
//! A head of several outputs is a function into R^T: its terms are
//! φ_i·w_i = |w_i|·(φ_i·w_i/|w_i|), so c_i = |w_i|/S with S = Σ|w_j|, and
//! h_i = S·φ_i·w_i/|w_i|. For one output that is |c_i|/Σ|c| and ±S·φ_i.
//!
//! Averages waste what a fit could do with the same features, and a random
//! choice wastes the features: what `koan train` and `koan shrink` do instead is
//! greedy selection through the Gram matrix (the trainer's `prune`).

pub mod bounds;
mod integral;
mod iterative;
mod mixture;
pub mod network;
mod random;

pub use integral::{density, integral};
pub use iterative::{Candidates, from_scratch, iterative};
pub use mixture::{Mixture, Pruned};
pub use random::random;
