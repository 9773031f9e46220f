//! The parameters of the estimators as the library's options, and back.

use koan::{Form, Law};
use koan_data::Shape;
use koan_trainer::tune::{Core, Limits, Metric, TuneOptions};
use koan_trainer::{ConvOptions, FamilyName, Goal, Loss, MapKind, Pooling, Space, TrainOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZero;
use std::time::Duration;

use crate::error::{parameter, shortened};

const LAWS: [Law; 6] =
    [Law::Gaussian, Law::Cauchy, Law::Sign, Law::Hadamard, Law::Uniform, Law::Gamma2];
const MAPS: [MapKind; 5] = [
    MapKind::Shared,
    MapKind::PerChannel,
    MapKind::PerInput,
    MapKind::PerInputLog,
    MapKind::GainPerInput,
];
const LOSSES: [Loss; 3] = [Loss::Squared, Loss::Logistic, Loss::Hinge];
const METRICS: [Metric; 5] =
    [Metric::Error, Metric::BalancedError, Metric::MacroF1, Metric::Auc, Metric::Rmse];
const CORES: [(&str, Core); 6] = [
    ("cortex-m0", Core::CortexM0),
    ("cortex-m3", Core::CortexM3),
    ("cortex-m4f", Core::CortexM4F),
    ("cortex-m33", Core::CortexM33),
    ("rv32imc", Core::Rv32imc),
    ("rv32imac", Core::Rv32imac),
];
const FORMS: [(&str, Form); 2] = [("fast", Form::Fast), ("small", Form::Small)];
const WIDTHS: [u8; 5] = [2, 3, 4, 8, 16];

/// The core of a name.
pub fn core_of(name: &str) -> PyResult<Core> {
    let known = CORES.iter().find(|(known, _)| *known == name);
    known.map(|(_, core)| *core).ok_or_else(|| {
        let names: Vec<&str> = CORES.iter().map(|(name, _)| *name).collect();
        parameter("core", format!("no core {name}; there are {}", names.join(", ")))
    })
}

/// Parameters by name; what is not there, or is None, is left open.
pub struct Parameters<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl Parameters<'_, '_> {
    /// A parameter of a type; `what` says which, for the message.
    fn get<T>(&self, name: &str, what: &str) -> PyResult<Option<T>>
    where
        T: for<'a, 'py> FromPyObject<'a, 'py>,
    {
        match self.0.get_item(name)? {
            Some(value) if !value.is_none() => match value.extract::<T>() {
                Ok(found) => Ok(Some(found)),
                Err(_) => Err(parameter(name, format!("{} is not {what}", value.repr()?))),
            },
            _ => Ok(None),
        }
    }

    /// One of several names.
    pub fn named<T: Copy>(
        &self,
        name: &str,
        all: &[T],
        text: impl Fn(T) -> &'static str,
    ) -> PyResult<Option<T>> {
        let Some(wanted) = self.get::<String>(name, "a name")? else { return Ok(None) };
        chosen(name, &wanted, all, text).map(Some)
    }

    pub fn number<T>(&self, name: &str, usual: T, what: &str) -> PyResult<T>
    where
        T: for<'a, 'py> FromPyObject<'a, 'py>,
    {
        Ok(self.get(name, what)?.unwrap_or(usual))
    }

    /// Families that are given, none if they are to be chosen.
    fn families(&self) -> PyResult<Vec<FamilyName>> {
        let names = self.get::<Vec<String>>("family", "a list of names")?.unwrap_or_default();
        let family = |name: &String| chosen("family", name, &FamilyName::ALL, FamilyName::name);
        names.iter().map(family).collect()
    }

    /// What training is asked to do.
    pub fn train_options(&self, goal: Goal) -> PyResult<TrainOptions> {
        let usual = TrainOptions::default();
        let families = self.families()?;
        let bits = self.get::<u8>("bits", "one of 2, 3, 4, 8 and 16")?;
        if let Some(bits) = bits.filter(|bits| !WIDTHS.contains(bits)) {
            return Err(parameter("bits", format!("{bits} is not one of 2, 3, 4, 8 and 16")));
        }
        let features = "a whole number from 1 to 65535, or a list of them";
        Ok(TrainOptions {
            goal,
            families: if families.is_empty() { usual.families } else { families },
            projection: self.named("projection", &LAWS, Law::name)?,
            features: self.get("n_features", features)?.unwrap_or_default(),
            candidates: self.get("candidates", "a whole number from 1 to 65535")?,
            bits,
            seed: self.number("random_state", usual.seed, "a whole number from 0 on")?,
            frequency: self.get("frequency", "a number, or a list of them")?,
            lambda: self.get("penalty", "a number")?,
            loss: self.named("loss", &LOSSES, Loss::name)?,
            box_c: self.get("box", "a number")?,
            map: self.named("input_map", &MAPS, MapKind::name)?,
            relevance: self.get("relevance", "True or False")?,
            pool: self
                .get::<NonZero<u8>>("pool", "a whole number from 1 to 255")?
                .map_or(usual.pool, NonZero::get),
            shared: self.number("shared_pool", usual.shared, "a whole number up to 65535")?,
            slot_bits: self.number("slot_bits", usual.slot_bits, "a whole number up to 12")?,
            depth: self.number("depth", usual.depth, "a whole number from 1 to 4")?,
            conv: ConvOptions {
                shape: self.shape()?,
                kernel: self.get("kernel", "a whole number from 1 to 255")?,
                stride: self.get("filter_stride", "a whole number from 1 to 15")?,
                grid: self.get("pooling_grid", "a whole number from 1 to 255")?,
                pooling: self
                    .named("pooling", &[Pooling::Average, Pooling::Proportion], pooling_name)?
                    .unwrap_or_default(),
                dilated: self.number("dilated", false, "True or False")?,
            },
            categories: self.get("categorical_features", "a list of columns")?.unwrap_or_default(),
            series: None,
            groups: Vec::new(),
            linear: self.number("linear", false, "True or False")?,
            balanced: self.balanced()?,
            golden_rows: self.number("golden_rows", 0, "a whole number from 0 on")?,
            column_names: self.number("column_names", true, "True or False")?,
        })
    }

    /// Whether every class counts the same. Other weights of classes come as those of rows.
    fn balanced(&self) -> PyResult<bool> {
        let given = self.0.get_item("class_weight")?;
        Ok(given.is_some_and(|value| value.extract().is_ok_and(|text: String| text == "balanced")))
    }

    /// What a row is, if it is told.
    pub fn shape(&self) -> PyResult<Option<Shape>> {
        let text = self.get::<String>("shape", "sizes such as '28x28x1'")?;
        text.map(|text| text.parse().map_err(|problem: String| parameter("shape", problem)))
            .transpose()
    }

    /// The form of the code that counts as flash, if it does.
    fn code(&self) -> PyResult<Option<Form>> {
        let Some(wanted) = self.get::<String>("with_code", "a name")? else { return Ok(None) };
        match FORMS.iter().find(|(name, _)| *name == wanted) {
            Some((_, form)) => Ok(Some(*form)),
            None => Err(parameter("with_code", format!("no form {wanted}; there are fast, small"))),
        }
    }

    fn ram(&self) -> PyResult<Option<usize>> {
        self.get("ram", "a number of bytes")
    }

    fn instructions(&self) -> PyResult<Option<u64>> {
        self.get("instructions", "a whole number")
    }

    /// The core that instructions are predicted for.
    fn core(&self) -> PyResult<Core> {
        core_of(&self.get::<String>("core", "a name")?.unwrap_or_else(|| "cortex-m0".into()))
    }

    /// The limits and the families to search, where something is to be searched.
    pub fn searched(&self, options: &TrainOptions) -> PyResult<Option<(Limits, Vec<FamilyName>)>> {
        let families = self.families()?;
        let flash = self.get::<usize>("flash", "a number of bytes")?;
        let (ram, instructions) = (self.ram()?, self.instructions()?);
        let limited = [
            ("flash", flash.is_some()),
            ("ram", ram.is_some()),
            ("instructions", instructions.is_some()),
        ];
        if let Some((limit, _)) = limited.iter().find(|(_, given)| *given) {
            let given = [
                ("n_features", !options.features.is_empty()),
                ("box", options.box_c.is_some()),
                ("pool", options.pool != TrainOptions::default().pool),
                ("shared_pool", options.shared != TrainOptions::default().shared),
                ("slot_bits", options.slot_bits != TrainOptions::default().slot_bits),
                ("depth", options.depth != TrainOptions::default().depth),
            ];
            if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
                let problem = format!("a search chooses it: leave out {name} or {limit}");
                return Err(parameter(name, problem));
            }
        }
        let code = self.code()?;
        if code.is_some() && flash.is_none() {
            return Err(parameter("with_code", "goes with flash"));
        }
        let open = families.is_empty() && options.is_open();
        let wanted = open || ram.is_some() || instructions.is_some();
        let flash = flash.or(wanted.then_some(koan_trainer::tune::USUAL_FLASH));
        let core = self.core()?;
        let limits = flash.map(|flash| Limits { flash, code, ram, instructions, core });
        Ok(limits.map(|limits| (limits, all_if_empty(families))))
    }

    /// Refuses parameters that would do nothing, of families that the model does not have, or
    /// cannot have where `searched` are tried.
    pub fn check(&self, options: &TrainOptions, searched: Option<&[FamilyName]>) -> PyResult<()> {
        use FamilyName::{Bin, Conv, Fern, Maxout, Series};
        let (named, usual) = (&options.families[..], TrainOptions::default());
        let possible = searched.unwrap_or(named);
        let conv = options.conv;
        let given: [(&str, bool, &[FamilyName], &[FamilyName]); 9] = [
            // A search does not look at the first four.
            ("pool", options.pool != usual.pool, &[Maxout], named),
            ("shared_pool", options.shared != usual.shared, &[Maxout], named),
            ("slot_bits", options.slot_bits != usual.slot_bits, &[Bin], named),
            ("depth", options.depth != usual.depth, &[Fern], named),
            ("kernel", conv.kernel.is_some(), &[Conv, Series], possible),
            ("filter_stride", conv.stride.is_some(), &[Conv], possible),
            ("pooling_grid", conv.grid.is_some(), &[Conv], possible),
            ("pooling", conv.pooling != usual.conv.pooling, &[Conv], possible),
            ("dilated", conv.dilated, &[Conv], possible),
        ];
        for (name, given, of, families) in given {
            if given && !families.iter().any(|family| of.contains(family)) {
                let of: Vec<String> =
                    of.iter().map(|family| format!("{:?}", family.name())).collect();
                return Err(parameter(name, format!("goes with family={}", of.join(" or "))));
            }
        }
        options.check_effect(possible).map_err(crate::error::training)?;
        let lists = [
            ("n_features", options.features.len()),
            ("frequency", options.frequency.as_ref().map_or(0, Vec::len)),
        ];
        for (name, values) in lists {
            if values > possible.len().max(1) {
                let families = possible.len();
                let problem =
                    format!("{values} values, families: {families}; one for each, or one for all");
                return Err(parameter(name, problem));
            }
        }
        Ok(())
    }

    /// What a search is asked to do.
    pub fn tune_options(&self) -> PyResult<TuneOptions> {
        let base = self.train_options(Goal::Predict)?;
        let minutes: f64 = self.number("minutes", 5.0, "a number")?;
        let time = Duration::try_from_secs_f64(60.0 * minutes).ok().filter(|time| !time.is_zero());
        let no_time = || {
            let minutes = shortened(&minutes.to_string());
            parameter("minutes", format!("{minutes} is no time that a search could take"))
        };
        let metric = self.named("metric", &METRICS, Metric::name)?;
        Ok(TuneOptions {
            space: Space { base, families: all_if_empty(self.families()?) },
            limits: Limits {
                flash: self.number("flash", koan_trainer::tune::FLASH, "a number of bytes")?,
                code: self.code()?,
                ram: self.ram()?,
                instructions: self.instructions()?,
                core: self.core()?,
            },
            metric: metric.unwrap_or(Metric::Error),
            time: time.ok_or_else(no_time)?,
            clock: self.number("clock", true, "True or False")?,
        })
    }
}

fn all_if_empty(families: Vec<FamilyName>) -> Vec<FamilyName> {
    if families.is_empty() { koan_trainer::tune::FAMILIES.to_vec() } else { families }
}

/// The one of that name.
fn chosen<T: Copy>(
    parameter_name: &str,
    wanted: &str,
    all: &[T],
    text: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    all.iter().copied().find(|&one| text(one) == wanted).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|&one| text(one)).collect();
        parameter(parameter_name, format!("no \"{wanted}\"; there are {}", known.join(", ")))
    })
}

fn pooling_name(pooling: Pooling) -> &'static str {
    match pooling {
        Pooling::Average => "average",
        Pooling::Proportion => "proportion",
    }
}

/// Options as parameters that make the model again: those that are not as usual, and the seed.
pub fn parameters<'py>(py: Python<'py>, options: &TrainOptions) -> PyResult<Bound<'py, PyDict>> {
    let usual = TrainOptions::default();
    let all = PyDict::new(py);
    let names: Vec<&str> = options.families.iter().map(|family| family.name()).collect();
    all.set_item("family", names)?;
    if !options.features.is_empty() && options.families[..] != [FamilyName::Linear] {
        all.set_item("n_features", &options.features)?;
    }
    all.set_item("loss", options.loss().name())?;
    macro_rules! given {
        ($($name:literal: $value:expr,)+) => {$(
            if let Some(value) = $value {
                all.set_item($name, value)?;
            }
        )+};
    }
    let categories = (!options.categories.is_empty()).then(|| options.categories.clone());
    // Options of filters that the model does not have are reset: given, they would be refused.
    let of = |family: FamilyName| options.families.contains(&family);
    let (asked, mut conv) = (options.conv, usual.conv);
    if of(FamilyName::Conv) {
        conv = asked;
    } else if of(FamilyName::Series) {
        conv.kernel = asked.kernel;
    }
    given! {
        "projection": options.projection.filter(|&law| law != Law::None).map(Law::name),
        "candidates": Some(options.candidates),
        "bits": options.bits,
        "frequency": options.frequency.clone(),
        "penalty": options.lambda,
        "box": options.box_c,
        "input_map": options.map.map(MapKind::name),
        "relevance": options.relevance,
        "shape": asked.shape.map(|shape| shape.to_string()),
        "kernel": asked.kernel.map(|_| conv.kernel),
        "filter_stride": asked.stride.map(|_| conv.stride),
        "pooling_grid": asked.grid.map(|_| conv.grid),
        "pooling": (asked.pooling != usual.conv.pooling).then(|| pooling_name(conv.pooling)),
        "dilated": asked.dilated.then_some(conv.dilated),
        "pool": (options.pool != usual.pool).then_some(options.pool),
        "shared_pool": (options.shared != usual.shared).then_some(options.shared),
        "slot_bits": (options.slot_bits != usual.slot_bits).then_some(options.slot_bits),
        "depth": (options.depth != usual.depth).then_some(options.depth),
        "categorical_features": categories,
        "linear": options.linear.then_some(true),
        "class_weight": options.balanced.then_some("balanced"),
        "golden_rows": (options.golden_rows != 0).then_some(options.golden_rows),
        "column_names": (!options.column_names).then_some(false),
        "random_state": Some(options.seed),
    }
    Ok(all)
}
