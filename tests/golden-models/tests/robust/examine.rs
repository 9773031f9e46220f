//! The two ways to parse refuse the same; sections are read.

use koan::format::{Fault, Refusal, field};
use koan::{Error, Field, Model, OwnedBuffers, Predictor};

use crate::mutate::fix_crc;

const TINY: &[u8] = include_bytes!("../../../../core/tests/tiny.koan");
/// Where the tiny model has its weights: a row of 8.
const WEIGHTS: std::ops::Range<usize> = 0x28..0x2c;

fn with_checksum(mut blob: Vec<u8>) -> Vec<u8> {
    fix_crc(&mut blob);
    blob
}

#[test]
fn examining_refuses_what_parsing_refuses() {
    // Every byte changed in several ways, with a checksum that holds or does not.
    let changes: &[u8] = if cfg!(miri) { &[0x80] } else { &[1, 0x10, 0x80, 0xff] };
    for at in (0..TINY.len()).step_by(if cfg!(miri) { 5 } else { 1 }) {
        for &change in changes {
            let mut blob = TINY.to_vec();
            blob[at] ^= change;
            for blob in [with_checksum(blob.clone()), blob] {
                let intact = with_checksum(blob.clone()) == blob;
                match (Model::parse(&blob), Model::examine(&blob, intact)) {
                    (Ok(parsed), Ok(examined)) => {
                        assert_eq!(parsed.to_words(), examined.to_words());
                        let again = Model::from_words(&blob, parsed.to_words());
                        assert_eq!(format!("{again:?}"), format!("{parsed:?}"));
                    }
                    (Err(error), Err(Refusal { fault, field: its, offset })) => match error {
                        Error::Truncated { .. } => {
                            assert_eq!(fault, Fault::Truncated);
                            assert_eq!(error, Error::Truncated { field: its, offset });
                        }
                        Error::Field { .. } => {
                            assert_eq!(fault, Fault::Value);
                            assert_eq!(error, Error::Field { field: its, offset });
                        }
                        Error::Version { .. } => {
                            assert_eq!((its, offset), (Field::Version, field::VERSION));
                        }
                        _ => assert!(!matches!(fault, Fault::Truncated | Fault::Value)),
                    },
                    (parsed, examined) => panic!("{at}: {parsed:?}, {examined:?}"),
                }
            }
        }
    }
}

/// Behind a whole header it is digest and checksum that are missing.
#[test]
fn short_blobs_name_what_they_end_before() {
    for length in 0..27 {
        let expected = match length {
            0..4 => (Field::Magic, 0),
            4 => (Field::Version, field::VERSION),
            5..19 => (Field::Header, field::FLAGS),
            _ => (Field::Trailer, field::INPUT_MAP),
        };
        let refused = Error::Truncated { field: expected.0, offset: expected.1 };
        assert_eq!(Model::parse(&TINY[..length]).err(), Some(refused), "{length} bytes");
    }
}

#[test]
fn sections_are_read() -> Result<(), Error> {
    let model = Model::parse(TINY)?;
    assert_eq!(model.class_name(1), Some("right"));
    assert!(model.calibration().is_some());
    assert_eq!(model.golden_rows(), 1);
    assert_eq!(model.notes(), "");
    let mut predictor = Predictor::new(model, OwnedBuffers::<2, 0, 0, 1>::new())?;
    predictor.self_test()?;
    assert_eq!(predictor.scores(&[0.5f32, -1.25])?, [model.golden().score(0, 0)]);
    // An unknown section that must be understood is refused in any case.
    let mut blob = TINY.to_vec();
    blob[WEIGHTS.end] = 0x80;
    let error = Model::parse(&with_checksum(blob)).err();
    assert_eq!(error, Some(Error::RequiredSection { tag: 0x80, offset: WEIGHTS.end }));
    Ok(())
}
