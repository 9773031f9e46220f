//! Options whose values are names: the trainer's enumerations as the command line has them.

use clap::ValueEnum;
use clap::builder::{EnumValueParser, TypedValueParser};
use koan::{Form, Law};
use koan_trainer::tune::{Core, Metric};
use koan_trainer::{FamilyName, Loss, MapKind, Pooling};

/// Reads the name of an `A`, as a `T`.
pub fn choice<A, T>() -> impl TypedValueParser<Value = T>
where
    A: ValueEnum + Clone + Send + Sync + 'static,
    T: From<A> + Clone + Send + Sync + 'static,
{
    EnumValueParser::<A>::new().map(T::from)
}

/// The names of an enumeration's values, with their help.
macro_rules! names {
    ($argument:ident of $choice:ty { $($(#[$attribute:meta])+ $value:ident,)+ }) => {
        #[derive(Clone, Copy, Debug, ValueEnum)]
        pub enum $argument {
            $($(#[$attribute])+ $value,)+
        }

        impl From<$argument> for $choice {
            fn from(argument: $argument) -> Self {
                match argument {
                    $($argument::$value => Self::$value,)+
                }
            }
        }
    };
}

names!(LawArgument of Law {
    /// dense normal weights (Gaussian kernel), stump thresholds from the normal law
    Gaussian,
    /// dense Cauchy weights (Laplacian kernel)
    Cauchy,
    /// weights of ±1
    Sign,
    /// random signs and a fast transform
    Hadamard,
    /// thresholds of stumps and ferns from the uniform law
    Uniform,
    /// grid pitches (Laplacian kernel)
    Gamma2,
});

names!(FamilyArgument of FamilyName {
    /// cos(w·x + b): smooth kernels; the usual choice
    Fourier,
    /// sign(x − t): thresholds on single inputs
    Stump,
    /// cells of random grids: rough, local functions
    Bin,
    /// maxima of projections: piecewise linear functions
    Maxout,
    /// σ(w·x + b): random ridge functions
    Sigmoid,
    /// filters of signs over an image or a series, pooled
    Conv,
    /// small trees from a few comparisons of inputs, chosen from a large pool
    Fern,
    /// filters of signs over a series and its differences: proportions above thresholds
    Series,
    /// the inputs themselves
    Linear,
});

names!(PoolingArgument of Pooling {
    /// the average of their cosines
    Average,
    /// the proportion that is positive
    Proportion,
});

names!(LossArgument of Loss {
    /// (y − s)², y = ±1 for classes: ridge regression
    Squared,
    /// logistic regression, multinomial for more than two classes
    Logistic,
    /// max(0, 1 − y·s): a linear support vector machine, one against the rest
    Hinge,
});

names!(MapArgument of MapKind {
    /// one offset and gain for all inputs: pixels, one-hot columns, sensors of one kind
    Shared,
    /// one offset and gain for each channel of a window, an image or a series: sensors of several kinds
    PerChannel,
    /// each input has mean 0 and standard deviation 1
    PerInput,
    /// as per-input, heavy-tailed inputs through their logarithm first
    PerInputLog,
    /// one offset for all inputs and a gain for each, a byte an input: many columns of several kinds
    /// in a small model
    GainPerInput,
});

names!(MetricArgument of Metric {
    /// share misclassified, or relative RMS error
    Error,
    /// mean over the classes of the share misclassified
    BalancedError,
    /// mean over the classes of F1 (larger is better)
    MacroF1,
    /// area under the ROC curve, two classes (larger is better)
    Auc,
    /// root mean squared error in the target's units
    Rmse,
});

names!(FormArgument of Form {
    /// time before bytes, as `include_model!` has it
    Fast,
    /// bytes before time: `include_model!(small ...)`
    Small,
});

names!(CoreArgument of Core {
    #[value(name = "cortex-m0")]
    CortexM0,
    #[value(name = "cortex-m3")]
    CortexM3,
    #[value(name = "cortex-m4f")]
    CortexM4F,
    #[value(name = "cortex-m33")]
    CortexM33,
    #[value(name = "rv32imc")]
    Rv32imc,
    #[value(name = "rv32imac")]
    Rv32imac,
});
