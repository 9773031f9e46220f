//! The handwritten digits of the demo: 1,797 images of 8 × 8 pixels in 0..=16 (UCI
//! "Optical Recognition of Handwritten Digits"; see `digits/README.md`).

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::{Column, ColumnKind, Division, Format, Schema, Shape, Table, Target};

/// Rows to train on in the demo; the other 597 are the test rows.
pub const TRAIN_ROWS: usize = 1200;

const ROWS: usize = 1797;
const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;

/// For every image its pixels, then its digit.
static COMPRESSED: &[u8] = include_bytes!("../digits/digits.gz");

/// All images and their digits.
#[must_use]
pub fn table() -> Table {
    let mut bytes = [0; ROWS * (PIXELS + 1)];
    GzDecoder::new(COMPRESSED).read_exact(&mut bytes).expect("the file is part of this crate");
    let rows = bytes.chunks_exact(PIXELS + 1);
    let pixel = Column { name: String::new(), kind: ColumnKind::Numeric { missing: None } };
    let mut columns = vec![pixel; PIXELS];
    columns.push(Column { name: "digit".into(), kind: ColumnKind::Target });
    Table {
        inputs: PIXELS,
        values: rows.clone().flat_map(|row| &row[..PIXELS]).map(|&pixel| pixel.into()).collect(),
        target: Target::Classes { labels: rows.map(|row| row[PIXELS].into()).collect() },
        schema: Schema {
            columns,
            inputs: PIXELS,
            classes: (0..10).map(|digit| digit.to_string()).collect(),
            image: Some(Shape { height: SIDE, width: SIDE, channels: 1 }),
            ..Schema::new(Format::Csv)
        },
        division: Division::Free,
        weights: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_is_there_with_its_pixels() {
        let table = table();
        let Target::Classes { labels } = &table.target else { panic!("digits are classes") };
        let counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180];
        for (digit, count) in (0..).zip(counts) {
            assert_eq!(labels.iter().filter(|&&label| label == digit).count(), count);
        }
        assert!(table.values.iter().all(|&pixel| (0.0..=16.0).contains(&pixel)));
        assert_eq!(table.values.iter().sum::<f32>(), 561_718.0);
    }
}
