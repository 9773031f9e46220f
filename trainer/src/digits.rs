//! The handwritten digits that come with the `smartcore` crate: 1,797 images of
//! 8 × 8 pixels in 0..=16 (UCI "Optical Recognition of Handwritten Digits").

use crate::data::{Column, ColumnKind, Division, Format, Schema, Shape, Table, Target};

/// Rows to train on in the demo; the other 597 are the test rows.
pub const TRAIN_ROWS: usize = 1200;

/// All images and their digits.
#[must_use]
pub fn table() -> Table {
    let digits = smartcore::dataset::digits::load_dataset();
    let pixel = Column { name: String::new(), kind: ColumnKind::Numeric { missing: None } };
    let mut columns = vec![pixel; digits.num_features];
    columns.push(Column { name: "digit".into(), kind: ColumnKind::Target });
    Table {
        inputs: digits.num_features,
        values: digits.data,
        target: Target::Classes {
            labels: digits.target.iter().map(|&digit| digit as u32).collect(),
        },
        schema: Schema {
            columns,
            inputs: digits.num_features,
            classes: (0..10).map(|digit| digit.to_string()).collect(),
            image: Some(Shape { height: 8, width: 8, channels: 1 }),
            ..Schema::new(Format::Csv)
        },
        division: Division::Free,
        weights: None,
    }
}
