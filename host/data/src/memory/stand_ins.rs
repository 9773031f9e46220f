//! Stand-ins for missing values of columns that have none in training.

use crate::fill::median;
use crate::{ColumnKind, Schema, Table};

impl Table {
    /// What stands in for a missing value of each column of the schema: the median of its numbers,
    /// whether any is missing or not; none of columns that are no numbers. Of tables without windows.
    #[must_use]
    pub fn stand_ins(&self) -> Vec<Option<f32>> {
        let mut next = 0;
        let of = |column: &crate::Column| {
            let input = next;
            next += column.inputs();
            match column.kind {
                ColumnKind::Numeric { missing: None } => {
                    let cells = self.values.iter().skip(input).step_by(self.inputs.max(1));
                    Some(median(&mut cells.copied().collect::<Vec<_>>()))
                }
                ColumnKind::Numeric { missing } => missing,
                _ => None,
            }
        };
        self.schema.columns.iter().map(of).collect()
    }
}

impl Schema {
    /// The schema with these stand-ins, one for each column, where a column of numbers has none.
    #[must_use]
    pub fn with_stand_ins(mut self, stand_ins: &[Option<f32>]) -> Schema {
        for (column, stand_in) in self.columns.iter_mut().zip(stand_ins) {
            if let ColumnKind::Numeric { missing: missing @ None } = &mut column.kind {
                *missing = *stand_in;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::{Missing, TableBuilder, Unlisted};

    #[test]
    fn medians_stand_in_where_the_model_has_none() {
        let (known, gaps) = ([4.0, 1.0, 3.0, 2.0], [f64::NAN, 7.0, 5.0, 9.0]);
        let table = TableBuilder::new(4)
            .missing(Missing::Impute)
            .column("known", &known[..])
            .column("text", &["a", "b", "a", "b"][..])
            .classes("y", &[0i64, 1, 0, 1][..])
            .column("gaps", &gaps[..])
            .build()
            .unwrap();
        let stand_ins = table.stand_ins();
        assert_eq!(stand_ins, [Some(2.5), None, None, Some(7.0)]);
        let row = TableBuilder::new(1)
            .column("known", &[f64::NAN][..])
            .column("text", &["b"][..])
            .column("gaps", &[f64::NAN][..]);
        let error = row.rows_under(&table.schema, Unlisted::Refuse).unwrap_err().to_string();
        assert!(
            error.contains("(`known`): the value is missing, and was never missing"),
            "{error}"
        );
        let schema = table.schema.with_stand_ins(&stand_ins);
        let rows = row.rows_under(&schema, Unlisted::Refuse).unwrap();
        assert_eq!(rows, [2.5, 0.0, 1.0, 7.0]);
    }
}
