//! What the head minimises where no loss is given.

use super::{FamilyName, TrainOptions};
use crate::solve::Loss;
use koan_data::{Table, Task};

/// Inputs up to which the logistic loss takes seconds, not minutes.
const FEW_INPUTS: usize = 1024;

impl TrainOptions {
    /// What the head minimises: the loss that is given, or squared error. Where none is given,
    /// [`train()`](crate::train()) takes the logistic loss for linear models of classes.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.loss.unwrap_or(Loss::Squared)
    }

    /// These with the loss that they leave open. That of linear models of classes is logistic, but
    /// for very wide rows: lines of least squares hide a class that lies between two others.
    #[must_use]
    pub(crate) fn with_loss(&self, table: &Table) -> Self {
        let linear = self.families == [FamilyName::Linear] && self.box_c.is_none();
        let usual = match table.schema.task() {
            Task::Classification if linear && table.inputs <= FEW_INPUTS => Loss::Logistic,
            _ => self.loss(),
        };
        Self { loss: self.loss.or(Some(usual)), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Progress, train};
    use koan_data::TableBuilder;

    #[test]
    fn lines_tell_a_class_between_two_others() {
        let x: Vec<f64> = (0..90).map(|row| f64::from(row * 37 % 90)).collect();
        let class: Vec<i64> = x.iter().map(|&x| (x / 30.0) as i64).collect();
        let table = TableBuilder::new(90).column("x", &x[..]).classes("y", &class[..]);
        let table = table.build().unwrap();
        let linear = TrainOptions { families: vec![FamilyName::Linear], ..Default::default() };
        let trained = |loss| {
            let options = TrainOptions { loss, ..linear.clone() };
            train(&table, Some(&table), &options, &Progress::none()).unwrap()
        };
        let [usual, logistic, squared] =
            [None, Some(Loss::Logistic), Some(Loss::Squared)].map(trained);
        assert!(usual.blob == logistic.blob && usual.report.loss == Some(Loss::Logistic));
        assert!(usual.report.error < 0.05 && squared.report.error > 0.2, "{:?}", squared.report);

        // Others, numbers, boxes and wide rows have squared error.
        let numbers =
            TableBuilder::new(90).column("x", &x[..]).values("y", &x[..]).build().unwrap();
        let wide = Table { inputs: FEW_INPUTS + 1, ..table.clone() };
        let fourier = TrainOptions::default();
        let within = TrainOptions { box_c: Some(1.0), ..linear.clone() };
        let given = [(&fourier, &table), (&linear, &numbers), (&within, &table), (&linear, &wide)];
        for (options, table) in given {
            assert_eq!(options.with_loss(table).loss, Some(Loss::Squared));
        }
    }
}
