//! Options that would be passed over are errors: who gives one thinks that it does something.

use super::{FamilyName, TrainOptions};
use crate::Error;

impl TrainOptions {
    /// Refuses options that do nothing to models of these `families`. What a search sets by itself
    /// need not pass.
    ///
    /// # Errors
    /// The option.
    pub fn check_effect(&self, families: &[FamilyName]) -> Result<(), Error> {
        use FamilyName::{Linear, Maxout};
        let all_of = |some: &[FamilyName]| {
            !families.is_empty() && families.iter().all(|family| some.contains(family))
        };
        let linear = all_of(&[Linear]) && self.groups.is_empty();
        let given = [
            ("candidates", linear && self.candidates.is_some()),
            ("features", linear && !self.features.is_empty()),
            ("projection", linear && self.projection.is_some()),
            ("frequency", all_of(&[Linear, Maxout]) && self.frequency.is_some()),
        ];
        let Some((name, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        let problem = match name {
            "frequency" => "a frequency does nothing: the families linear and maxout have none",
            "candidates" => "candidates do nothing: the family linear has the inputs themselves",
            "projection" => {
                "a projection does nothing: the family linear has the inputs themselves"
            }
            _ => "a number of features does nothing: the family linear has the inputs themselves",
        };
        Err(Error::parameter(name, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_nothing_is_refused() {
        use FamilyName::{Fourier, Linear, Maxout};
        let usual = TrainOptions::default;
        let given = [
            (TrainOptions { features: vec![8], ..usual() }, "features", [true, false, false]),
            (TrainOptions { candidates: Some(9), ..usual() }, "candidates", [true, false, false]),
            (
                TrainOptions { projection: Some(koan::Law::Sign), ..usual() },
                "projection",
                [true, false, false],
            ),
            (
                TrainOptions { frequency: Some(vec![2.0]), ..usual() },
                "frequency",
                [true, true, false],
            ),
        ];
        for (options, name, refused) in given {
            let families = [[Linear].as_slice(), &[Maxout], &[Linear, Fourier]];
            for (families, refused) in families.into_iter().zip(refused) {
                match options.check_effect(families) {
                    Err(Error::Parameter { name: found, .. }) => assert!(refused && found == name),
                    found => assert!(found.is_ok() && !refused, "{name} {families:?}"),
                }
            }
            options.check_effect(&[]).unwrap();
        }
    }
}
