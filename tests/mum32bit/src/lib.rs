//! What koan does in a program in which some other dependency has switched the
//! `wyhash` feature `mum32bit` on: cargo then builds koan with it, too.
//!
//! Run with `cargo test --manifest-path tests/mum32bit/Cargo.toml`.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests {
    use koan::{Error, Model, OwnedBuffers, Predictor};

    static BLOB: &[u8] = include_bytes!("../../golden/digits.koan");
    koan::include_model!(mod digits = "../../golden/digits.koan");

    #[test]
    fn the_generator_is_another_one() {
        // wyrand's first draw from 0 with 128-bit products.
        let (a, b) = (0xa076_1d64_78bd_642fu64, 0xe703_7ed1_a0b4_28dbu64);
        let product = u128::from(a) * u128::from(a ^ b);
        let published = (product >> 64) as u64 ^ product as u64;
        assert_ne!(wyhash::final3::wyrng(&mut 0), published);
    }

    #[test]
    fn a_model_parses_but_is_not_run() {
        let model = Model::parse(BLOB).expect("the blob itself is fine");
        let error = Predictor::new(model, OwnedBuffers::<64, 0, 0, 10>::new()).err();
        let Some(error @ Error::Generator { expected, actual }) = error else {
            panic!("expected a generator error, got {error:?}");
        };
        assert_eq!(expected, model.check_word());
        assert_ne!(expected, actual);
        assert!(error.to_string().contains("mum32bit"), "{error}");
    }

    /// The compiler draws nothing when it checks a blob: the first row tells.
    #[test]
    fn a_model_that_is_built_in_is_not_run_either() {
        let row = [0i16; 64];
        let mut predictor = digits::predictor();
        for error in [predictor.classify(&row).err(), predictor.self_test().err()] {
            assert!(matches!(error, Some(Error::Generator { .. })), "{error:?}");
        }
        let mut features = vec![0; digits::MODEL.features()];
        let error = digits::predictor().features(&row, &mut features).err();
        assert!(matches!(error, Some(Error::Generator { .. })), "{error:?}");
    }
}
