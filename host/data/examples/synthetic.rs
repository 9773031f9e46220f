//! Writes a CSV file of any size: numbers, and a class that depends on them.
//!
//! `cargo run --release --example synthetic -- ROWS COLUMNS FILE`

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use wyhash::final3::wyrng;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, columns, file] = &arguments[..] else {
        return Err("ROWS COLUMNS FILE".into());
    };
    let (rows, columns): (u64, usize) = (rows.parse()?, columns.parse()?);
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let mut state = 1u64;
    // The last of the columns is the class.
    let inputs = columns - 1;
    for column in 0..inputs {
        write!(out, "x{column},")?;
    }
    writeln!(out, "class")?;
    let mut row = vec![0f32; inputs];
    for _ in 0..rows {
        let mut waves = 0.0f32;
        for (column, value) in row.iter_mut().enumerate() {
            // Steps of a thousandth from -4 to 4.
            *value = (wyrng(&mut state) % 8001) as f32 / 1000.0 - 4.0;
            if column < 8 {
                waves += (*value * (0.3 + 0.1 * column as f32)).sin();
            }
            write!(out, "{value},")?;
        }
        let noise = (wyrng(&mut state) % 1000) as f32 / 1000.0 - 0.5;
        writeln!(out, "{}", if waves + noise > 0.0 { "on" } else { "off" })?;
    }
    out.flush()?;
    Ok(())
}
