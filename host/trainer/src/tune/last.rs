//! The last fits: what a search found, trained on all rows.

use koan::{Family, Form, Model};

use super::code::code_bytes;
use super::cost::{Core, Shape};
use super::ferns::is_fern;
use super::metric::Metric;
use super::sizes::Limits;
use crate::blob::{ModelSpec, columns, whole};
use crate::evaluate::evaluate;
use crate::folds::drawn_rows;
use crate::plan::BankPlan;
use crate::progress::Progress;
use crate::train::with_categories;
use crate::{Error, Point, TrainOptions, Trained, train};
use koan_data::Table;

/// Training rows that the model is judged on, at most.
const JUDGED_ROWS: usize = 5000;

/// A last fit, and what it has to keep.
pub(super) struct LastFit<'t> {
    pub train: &'t Table,
    pub test: Option<&'t Table>,
    pub limits: Limits,
    pub metric: Metric,
    /// Whether the search chose λ, and not the user.
    pub open: bool,
    pub progress: &'t Progress,
}

impl LastFit<'_> {
    /// Trains the model of a point, with fewer features where it is larger or slower than the search
    /// took it for, most often because of the list of kept ones, which is not known before. None if
    /// no number of them fits. The options of the point alone make the same model again; its bytes,
    /// RAM and instructions are then those of the blob.
    ///
    /// The λ of a point was chosen by fits to fewer rows. Where the model is worse on rows that
    /// it has seen than others were on rows that they had not, that λ suits it so badly that
    /// rounding, most likely, has destroyed it: then λ is chosen anew, and the better one stays.
    pub(super) fn train(&self, point: &mut Point) -> Result<Option<Trained>, Error> {
        let trained = self.fitted(point)?;
        if let Some(trained) = &trained {
            let model = Model::parse(&trained.blob)?;
            point.bytes = trained.blob.len();
            point.ram = model.buffer_sizes(Form::Fast).bytes();
            point.instructions = self.limits.core.instructions_of(&model);
        }
        Ok(trained)
    }

    /// The model of a point, whose options become its own.
    fn fitted(&self, point: &mut Point) -> Result<Option<Trained>, Error> {
        let none = self.train.select(&[]);
        let test = self.test.unwrap_or(&none);
        let (table, test) = with_categories(self.train, test, &point.options.categories)?;
        let fit = |options: &mut TrainOptions| self.within(&table, &test, options);
        let Some(trained) = fit(&mut point.options)? else { return Ok(None) };
        if !self.open || point.options.lambda.is_none() {
            return Ok(Some(trained));
        }
        let seed = point.options.seed;
        let seen = table.select(&drawn_rows(table.rows(), JUDGED_ROWS, seed));
        let loss = |trained: &Trained| -> Result<f64, Error> {
            Ok(self.metric.loss(&evaluate(&trained.blob, &seen)?))
        };
        let before = loss(&trained)?;
        if before <= point.loss {
            return Ok(Some(trained));
        }
        let mut options = TrainOptions { lambda: None, ..point.options.clone() };
        match fit(&mut options)? {
            Some(again) if loss(&again)? < before => {
                point.options = options;
                Ok(Some(again))
            }
            _ => Ok(Some(trained)),
        }
    }

    /// [`Self::train`], or else without a list of kept features, which leaves room; of convolutions,
    /// with whole filters. Ferns always have a list.
    pub(super) fn train_without_list(&self, point: &mut Point) -> Result<Option<Trained>, Error> {
        let trained = self.train(point)?;
        if trained.is_some() || point.options.candidates.is_none() || is_fern(&point.options) {
            return Ok(trained);
        }
        let options = &mut point.options;
        let none = self.train.select(&[]);
        let (coded, _) = with_categories(self.train, &none, &options.categories)?;
        let banks = options.banks(&coded.schema)?;
        options.features[0] = whole(banks[0].family, banks[0].features);
        options.candidates = None;
        self.train(point)
    }

    /// The model of these options, which get fewer features until it is small and fast enough.
    fn within(
        &self,
        table: &Table,
        test: &Table,
        options: &mut TrainOptions,
    ) -> Result<Option<Trained>, Error> {
        // That which the search judged, also where `train` would take another.
        options.loss = Some(options.loss());
        loop {
            let trained = train(table, self.test.map(|_| test), options, self.progress)?;
            let model = Model::parse(&trained.blob)?;
            let Limits { flash, code, instructions, core, .. } = self.limits;
            let code = code.map_or(0, |form| code_bytes(&model, form));
            let excess = (trained.blob.len() + code).saturating_sub(flash);
            let limit = instructions.filter(|&limit| core.instructions_of(&model) > limit);
            if excess == 0 && limit.is_none() {
                return Ok(Some(trained));
            }
            let kept = options.candidates.is_some();
            // The weights that go make room for what is too much.
            let bits = model.outputs().max(1) * usize::from(options.bits.unwrap_or(1));
            let mut too_many = (8 * excess).div_ceil(bits);
            if let Some(limit) = limit {
                let Some(slow) = too_slow(&model, kept, core, limit) else { return Ok(None) };
                too_many = too_many.max(slow);
            }
            let banks = options.banks(&table.schema)?;
            match with_fewer(&banks, kept, too_many) {
                None => return Ok(None),
                Some(features) => options.features = features,
            }
        }
    }
}

/// The bank of these families and columns that gets fewer: the first one if it keeps some of a pool,
/// else that with most. None if there is none but of inputs, all of which are features.
fn to_reduce(banks: &[(Family, usize)], kept: bool) -> Option<usize> {
    let sized = |&place: &usize| banks[place].0 != Family::Linear;
    let places = (0..if kept { 1 } else { banks.len() }).filter(sized);
    places.max_by_key(|&place| banks[place].1)
}

/// How many columns of a model are too many for so many instructions, about: other features than
/// these may be kept then. None if one is.
fn too_slow(model: &Model<'_>, kept: bool, core: Core, limit: u64) -> Option<usize> {
    let spec = ModelSpec::features_of(model);
    let banks: Vec<_> = spec.banks.iter().map(|bank| (bank.family, bank.columns())).collect();
    let place = to_reduce(&banks, kept)?;
    let bits = model.banks().next().map_or(8, |bank| bank.width().bits());
    let fits = |&count: &u16| {
        let mut fewer = spec.clone();
        let bank = &mut fewer.banks[place];
        let (from, to) = (usize::from(bank.features), usize::from(count));
        if let Some(list) = &mut bank.kept {
            *list = (0..to).map(|number| list[number * from / to]).collect();
        }
        bank.features = count;
        let features: Vec<u16> = fewer.banks.iter().map(|bank| bank.features).collect();
        core.instructions(&Shape::of(&fewer, &features, model.outputs(), bits)) <= limit
    };
    let bank = &spec.banks[place];
    let fewer: Vec<u16> = (1..bank.features).collect();
    let left = fewer.partition_point(fits);
    (left > 0).then(|| bank.columns() - columns(bank.family, left as u16))
}

/// The features of each bank with at least `excess` columns less; convolutions that are not kept
/// one by one are whole filters. None if none is left.
fn with_fewer(banks: &[BankPlan], kept: bool, excess: usize) -> Option<Vec<u16>> {
    let mut features: Vec<u16> = banks.iter().map(|bank| bank.features).collect();
    let all: Vec<_> = banks.iter().map(|bank| (bank.family, bank.columns())).collect();
    let place = to_reduce(&all, kept)?;
    let bank = &banks[place];
    let fewer = excess.div_ceil(columns(bank.family, 1));
    let left = usize::from(bank.features).checked_sub(fewer).filter(|&left| left > 0)?;
    let left = u16::try_from(left).ok()?;
    let whole = if kept { left } else { whole(bank.family, left) };
    features[place] = whole;
    (whole < bank.features).then_some(features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FamilyName;
    use crate::solve::Loss;
    use koan_data::digits;

    /// The model of a point that a search took to have this loss, and the point then.
    fn last_fit(
        table: &Table,
        options: TrainOptions,
        limits: Limits,
        open: bool,
        loss: f64,
    ) -> Option<(Trained, Point)> {
        let mut point = Point { options, bytes: 0, ram: 0, instructions: 0, loss, value: loss };
        let fit = LastFit {
            train: table,
            test: None,
            limits,
            metric: Metric::Error,
            open,
            progress: &Progress::none(),
        };
        fit.train(&mut point).unwrap().map(|trained| (trained, point))
    }

    /// Options of which nothing is left to choose.
    fn given(families: Vec<FamilyName>, candidates: Option<u16>, features: u16) -> TrainOptions {
        TrainOptions {
            families,
            candidates,
            features: vec![features],
            bits: Some(4),
            loss: Some(Loss::Squared),
            lambda: Some(1e-3),
            frequency: Some(vec![1.0]),
            map: Some(crate::MapKind::Shared),
            relevance: Some(false),
            ..TrainOptions::default()
        }
    }

    #[test]
    fn no_model_is_larger_than_it_may_be() {
        let table = digits::table().select(&(0..300).collect::<Vec<_>>());
        let sums = vec![FamilyName::Fourier, FamilyName::Linear];
        let cases = [
            (vec![FamilyName::Fourier], None, 100),
            (vec![FamilyName::Conv], None, 128),
            (vec![FamilyName::Fern], Some(100), 20),
            (sums.clone(), None, 60),
            (sums, Some(200), 60),
        ];
        for (families, candidates, features) in cases {
            let options = given(families, candidates, features);
            let of = |flash: usize| {
                let limits = Limits::of_flash(flash);
                let (trained, point) = last_fit(&table, options.clone(), limits, false, 1.0)?;
                assert_eq!(point.bytes, trained.blob.len());
                Some((trained.blob.len(), point.options.features))
            };
            let (bytes, given) = of(usize::MAX).unwrap();
            assert!(given == [features], "{given:?}");
            let limit = bytes - 120;
            let (bytes, fewer) = of(limit).unwrap();
            assert!(bytes <= limit && fewer[0] < features, "{bytes} {limit} {fewer:?}");
            assert_eq!(of(40), None);
        }
    }

    /// What a model takes is not known before there is one, with its list of kept features.
    #[test]
    fn no_model_is_slower_than_it_may_be() {
        let table = digits::table().select(&(0..300).collect::<Vec<_>>());
        for (family, candidates, features) in [
            (FamilyName::Fourier, None, 60),
            (FamilyName::Stump, Some(200), 60),
            (FamilyName::Conv, Some(256), 60),
            (FamilyName::Conv, None, 64),
        ] {
            let options = given(vec![family], candidates, features);
            let of = |instructions: Option<u64>| {
                let limits = Limits { instructions, ..Limits::of_flash(usize::MAX) };
                let (trained, point) = last_fit(&table, options.clone(), limits, false, 1.0)?;
                let model = Model::parse(&trained.blob).unwrap();
                assert_eq!(point.instructions, limits.core.instructions_of(&model));
                assert_eq!(point.ram, model.buffer_sizes(Form::Fast).bytes());
                Some((point.instructions, point.options.features))
            };
            let (whole, given) = of(None).unwrap();
            assert_eq!(given, [features]);
            let limit = whole * 9 / 10;
            let (fewer, left) = of(Some(limit)).unwrap();
            assert!(fewer <= limit && left[0] < features, "{fewer} of {limit}: {left:?}");
            assert!(left[0] >= features / 2, "{family:?}: {left:?}");
            assert!(of(Some(1000)).is_none());
        }
    }

    #[test]
    fn a_model_that_rounding_destroys_gets_another_lambda() {
        let table = digits::table();
        let table = table.select(&(0..600).collect::<Vec<_>>());
        let options = TrainOptions {
            features: vec![30],
            bits: Some(2),
            loss: Some(Loss::Logistic),
            lambda: Some(1e-10),
            // λ alone is searched.
            frequency: Some(vec![0.02]),
            map: Some(crate::MapKind::Shared),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let of = |open: bool, loss: f64| {
            let limits = Limits::of_flash(2000);
            let (trained, point) = last_fit(&table, options.clone(), limits, open, loss).unwrap();
            let options = point.options;
            let again = train(&table, None, &options, &Progress::none()).unwrap();
            assert_eq!(again.blob, trained.blob);
            (options.lambda, evaluate(&trained.blob, &table).unwrap().error)
        };
        let (given, bad) = of(false, 0.04);
        assert_eq!(given, Some(1e-10), "a λ that was asked for stays");
        let (chosen, good) = of(true, 0.04);
        assert!(bad > 0.5 && good < 0.2, "{bad} {good}");
        assert_eq!(chosen, None);
        // As good as it was expected to be.
        assert_eq!(of(true, 1.0).0, Some(1e-10));
    }
}
