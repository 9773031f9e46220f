//! Whether a model may come into force.

use koan::{Buffers, Error, GOLDEN_DIGEST_ROWS, Limits, Model, Predictor, Profile};

/// Parses a blob within limits and runs its self test, in this memory, on this device. The
/// limit on work is that of the whole self test: what the check itself takes is known before
/// anything is run.
///
/// # Errors
/// Those of [`Model::parse_within`], [`Predictor::serving`] and [`Predictor::self_test`].
pub fn check_model<P: Profile>(
    blob: &[u8],
    limits: Limits,
    buffers: &mut impl Buffers,
) -> Result<(), Error> {
    let model = Model::parse_within(blob, limits)?;
    let rows = model.golden_rows().saturating_add(GOLDEN_DIGEST_ROWS);
    let needed = model.work().saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX));
    if needed > limits.work {
        let what = "work in its self test";
        return Err(Error::Limit { what, needed, limit: limits.work });
    }
    Predictor::<_, P>::serving(model, buffers.workspace())?.self_test()
}

#[cfg(test)]
mod tests {
    use super::*;
    use koan::{Any, OwnedBuffers};
    use std::string::ToString;

    #[test]
    fn what_a_model_must_not_do_is_named() {
        let blob = include_bytes!("../../../tests/models/exercises-conv-160.koan");
        let check = |work, memory| {
            let limits = Limits { work, memory };
            check_model::<Any>(blob, limits, &mut OwnedBuffers::<384, 64, 128, 4>::new())
        };
        assert_eq!(check(4 * 454_672, 1440), Ok(()));
        let refused = |result: Result<(), Error>| result.unwrap_err().to_string();
        assert_eq!(
            refused(check(4 * 454_672 - 1, 1440)),
            "the model's work in its self test is 1818688, more than the limit of 1818687"
        );
        assert_eq!(
            refused(check(u32::MAX, 1439)),
            "the model's memory is 1440, more than the limit of 1439"
        );
    }
}
