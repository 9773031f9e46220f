//! What the command `koan`, the pages, the Python package, the papers' experiments and the tests of
//! this workspace take from the inside. No promise is made about any of it.

pub mod anomaly {
    pub use crate::anomaly::{auc, detect, similarity, threshold};
}
pub mod beyond {
    pub use crate::beyond::{Beyond, around};
}
pub mod blob {
    pub use crate::blob::{
        BankSpec, BankWeights, HeadSpec, MapSpec, ModelSpec, classes, predictor, schema,
    };
}
pub mod embed {
    pub use crate::embed::{components, hamming, nearest};
}
pub mod evaluate {
    pub use crate::evaluate::{of_confusion, of_scores, of_values};
}
pub mod features {
    pub use crate::features::FeatureMap;
}
pub mod fit {
    pub use crate::fit::{fit_dense, fit_loss, fit_sparse};
}
pub mod folds {
    pub use crate::folds::drawn_rows;
}
pub mod heap {
    pub use crate::heap::HeapBuffers;
}
pub mod lambda {
    pub use crate::lambda::LAMBDAS;
}
pub mod learning_curve {
    pub use crate::learning_curve::{
        LearningCurves, LearningPoint, Run, learning_curves, predicted_classes, probabilities,
        values,
    };
}
pub mod listing {
    pub use crate::listing::{Segment, hex, parts};
}
pub mod moments {
    pub use crate::moments::{Kernel, Moments};
}
pub mod nearest {
    pub use crate::nearest::{map, scale};
}
pub mod normalise {
    pub use crate::normalise::{Axis, Kind, Normaliser};
}
pub mod options {
    pub use crate::options::{ChoiceOptions, HeadOptions};
}
pub mod panels {
    pub use crate::panels::columns;
}
pub mod percent {
    pub use crate::percent::{counted, error_decimals, error_percent, percent};
}
pub mod plan {
    pub use crate::plan::{BankPlan, all_off, realise};
}
pub mod problem {
    pub use crate::problem::Problem;
}
pub mod prune {
    pub use crate::prune::{Criterion, backward, forward, refit, scattered};
}
pub mod quantise {
    pub use crate::quantise::{Rounding, round};
}
pub mod ridge {
    pub use crate::ridge::{LinearFit, System, best_on};
}
pub mod row {
    pub use crate::row::{FIRST, Place, constant, described, line, places, rust};
}
pub mod scorer {
    pub use crate::batch::{Batch, Number, ROWS};
    pub use crate::scorer::Scorer;
}
pub mod select {
    pub use crate::select::{Choice, Trial, choose};
}
pub mod solve {
    pub use crate::solve::{BoxedSquares, Convergence, Design, Hinge, Logistic, Solution};

    pub mod boxed {
        pub use crate::solve::boxed::bound;
    }
}
pub mod stream {
    pub use crate::stream::remove;
}
pub mod train {
    pub use crate::train::most_columns;
}
