//! The last fits: what a search found, trained on all rows.

use koan::{Family, Form, Model};

use super::code::code_bytes;
use super::ferns::is_fern;
use super::metric::Metric;
use crate::blob::{columns, whole};
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
    /// Bytes of the blob, at most, and of its code in this form where that counts.
    pub flash: usize,
    pub code: Option<Form>,
    pub metric: Metric,
    /// Whether the search chose λ, and not the user.
    pub open: bool,
    pub progress: &'t Progress,
}

impl LastFit<'_> {
    /// Trains the model of a point, with fewer features where it is larger than the search took it
    /// for, most often because of a longer list of kept ones. None if no number of them fits. The
    /// options of the point alone make the same model again.
    ///
    /// The λ of a point was chosen by fits to fewer rows. Where the model is worse on rows that
    /// it has seen than others were on rows that they had not, that λ suits it so badly that
    /// rounding, most likely, has destroyed it: then λ is chosen anew, and the better one stays.
    pub(super) fn train(&self, point: &mut Point) -> Result<Option<Trained>, Error> {
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

    /// The model of these options, which get fewer features until it is small enough.
    fn within(
        &self,
        table: &Table,
        test: &Table,
        options: &mut TrainOptions,
    ) -> Result<Option<Trained>, Error> {
        loop {
            let trained = train(table, self.test.map(|_| test), options, self.progress)?;
            let model = Model::parse(&trained.blob)?;
            let code = self.code.map_or(0, |form| code_bytes(&model, form));
            let flash = trained.blob.len() + code;
            if flash <= self.flash {
                return Ok(Some(trained));
            }
            // The weights that go make room for what is too much.
            let bits = model.outputs().max(1) * usize::from(options.bits.unwrap_or(1));
            let too_many = (8 * (flash - self.flash)).div_ceil(bits);
            let banks = options.banks(&table.schema)?;
            match with_fewer(&banks, options.candidates.is_some(), too_many) {
                None => return Ok(None),
                Some(features) => options.features = features,
            }
        }
    }
}

/// The features of each bank with at least `excess` columns less: of the first bank if it keeps some
/// of a pool, else of that with most, whose convolutions are whole filters. None if none is left.
fn with_fewer(banks: &[BankPlan], kept: bool, excess: usize) -> Option<Vec<u16>> {
    let mut features: Vec<u16> = banks.iter().map(|bank| bank.features).collect();
    // All inputs are features of the linear family.
    let sized = |&place: &usize| banks[place].family != Family::Linear;
    let places = (0..if kept { 1 } else { banks.len() }).filter(sized);
    let place = places.max_by_key(|&place| banks[place].columns())?;
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

    /// The model of a point that a search took to have this loss, and its options then.
    fn last_fit(
        table: &Table,
        options: TrainOptions,
        flash: usize,
        open: bool,
        loss: f64,
    ) -> Option<(Trained, TrainOptions)> {
        let mut point = Point { options, bytes: 0, ram: 0, instructions: 0, loss, value: loss };
        let fit = LastFit {
            train: table,
            test: None,
            flash,
            code: None,
            metric: Metric::Error,
            open,
            progress: &Progress::none(),
        };
        fit.train(&mut point).unwrap().map(|trained| (trained, point.options))
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
            let options = TrainOptions {
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
            };
            let of = |flash: usize| {
                let (trained, options) = last_fit(&table, options.clone(), flash, false, 1.0)?;
                Some((trained.blob.len(), options.features))
            };
            let (bytes, given) = of(usize::MAX).unwrap();
            assert!(given == [features], "{given:?}");
            let limit = bytes - 120;
            let (bytes, fewer) = of(limit).unwrap();
            assert!(bytes <= limit && fewer[0] < features, "{bytes} {limit} {fewer:?}");
            assert_eq!(of(40), None);
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
            lambda: Some(1e-8),
            // λ alone is searched.
            frequency: Some(vec![0.25]),
            map: Some(crate::MapKind::Shared),
            relevance: Some(false),
            ..TrainOptions::default()
        };
        let of = |open: bool, loss: f64| {
            let (trained, options) = last_fit(&table, options.clone(), 2000, open, loss).unwrap();
            let again = train(&table, None, &options, &Progress::none()).unwrap();
            assert_eq!(again.blob, trained.blob);
            (options.lambda, evaluate(&trained.blob, &table).unwrap().error)
        };
        let (given, bad) = of(false, 0.04);
        assert_eq!(given, Some(1e-8), "a λ that was asked for stays");
        let (chosen, good) = of(true, 0.04);
        assert!(bad > 0.5 && good < 0.2, "{bad} {good}");
        assert_eq!(chosen, None);
        // As good as it was expected to be.
        assert_eq!(of(true, 1.0).0, Some(1e-8));
    }
}
