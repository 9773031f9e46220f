//! Input maps of the candidates: fitted once, scales learned once for each fold.

use crate::folds::Folds;
use crate::normalise::{Kind, Normaliser, Spread};
use crate::parallel;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::relevance;
use crate::{Error, TrainOptions};

/// A normaliser and how far rows spread under it.
type Line = (Normaliser, Spread);

/// The lines of one kind of map.
#[derive(Clone, Debug)]
struct OfKind {
    kind: Kind,
    plain: Line,
    /// For each held-out part, scales learned on the other rows alone.
    learned: Vec<Line>,
}

/// The lines of all kinds that are searched.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    kinds: Vec<OfKind>,
}

impl Inputs {
    /// Fits the maps of the given kinds. Offsets and scales come from all rows,
    /// whose targets they do not see.
    #[must_use]
    pub fn new(problem: &Problem<'_>, kinds: &[Kind]) -> Self {
        let rows: Vec<usize> = (0..problem.table.rows()).collect();
        let kinds = kinds
            .iter()
            .map(|&kind| {
                let normaliser = Normaliser::fit(problem.table, &rows, kind);
                let spread = normaliser.spread(problem.table, &rows);
                OfKind { kind, plain: (normaliser, spread), learned: Vec::new() }
            })
            .collect();
        Self { kinds }
    }

    /// Whether the scales of a kind's inputs are learned.
    #[must_use]
    pub fn has_learned(&self, kind: Kind) -> bool {
        self.kinds.iter().any(|other| other.kind == kind && !other.learned.is_empty())
    }

    /// Learns the scales of a kind's inputs, for each held-out part on the rows
    /// of the others, as training will on all.
    pub fn learn(
        &mut self,
        problem: &Problem<'_>,
        kind: Kind,
        folds: &Folds,
        seed: u64,
        progress: &Progress,
    ) -> Result<(), Error> {
        let of_kind = self.kinds.iter_mut().find(|other| other.kind == kind);
        let Some(of_kind) = of_kind.filter(|of_kind| of_kind.learned.is_empty()) else {
            return Ok(());
        };
        progress.phase("learning which inputs matter")?;
        of_kind.learned = parallel::try_map(folds.held.len(), |number| {
            let rows = folds.fit_rows(folds.held[number]);
            let base = &of_kind.plain.0;
            let typical = 1.0 / base.spread(problem.table, &rows).variance.sqrt();
            let quiet = Progress::none();
            let factors = relevance::learn(problem, &rows, base, typical, seed, &quiet)?;
            let scaled = base.scaled(&factors);
            let spread = scaled.spread(problem.table, &rows);
            Ok::<_, Error>((scaled, spread))
        })?;
        Ok(())
    }

    /// The lines of a candidate: one, or one for each held-out part.
    pub fn lines(&self, options: &TrainOptions) -> impl Iterator<Item = (&Normaliser, &Spread)> {
        let of_kind = self.kinds.iter().find(|other| Some(other.kind) == options.map);
        let learned = options.relevance == Some(true);
        let lines = of_kind.map_or(&[][..], |of_kind| {
            if learned { &of_kind.learned } else { std::slice::from_ref(&of_kind.plain) }
        });
        lines.iter().map(|(normaliser, spread)| (normaliser, spread))
    }
}
