//! Options that would be passed over are errors: who gives one thinks that it does something.

use super::{FamilyName, TrainOptions};
use crate::Error;

impl TrainOptions {
    /// Refuses options that do nothing to models of these `families`: for those who ask somebody for
    /// options, since [`train()`](crate::train()) passes over them.
    ///
    /// # Errors
    /// The option.
    pub fn check_effect(&self, families: &[FamilyName]) -> Result<(), Error> {
        let linear = !families.is_empty()
            && families.iter().all(|&family| family == FamilyName::Linear)
            && self.groups.is_empty();
        let given = [
            ("candidates", self.candidates.is_some(), "candidates do"),
            ("features", !self.features.is_empty(), "a number of features does"),
            ("projection", self.projection.is_some(), "a projection does"),
        ];
        match given.into_iter().find(|(_, given, _)| linear && *given) {
            Some((name, _, what)) => {
                let problem =
                    format!("{what} nothing: the family linear has the inputs themselves");
                Err(Error::parameter(name, problem))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_nothing_is_refused() {
        use FamilyName::{Fourier, Linear};
        let usual = TrainOptions::default;
        let given = [
            (TrainOptions { features: vec![8], ..usual() }, "features"),
            (TrainOptions { candidates: Some(9), ..usual() }, "candidates"),
            (TrainOptions { projection: Some(koan::Law::Sign), ..usual() }, "projection"),
        ];
        for (options, name) in given {
            let error = options.check_effect(&[Linear]).unwrap_err();
            assert!(matches!(error, Error::Parameter { name: found, .. } if found == name));
            for families in [[].as_slice(), &[Linear, Fourier]] {
                options.check_effect(families).unwrap();
            }
        }
        usual().check_effect(&[Linear]).unwrap();
    }
}
