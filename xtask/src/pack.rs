//! Writes packs: models and rows for the firmware, see
//! `firmware-example/src/pack.rs`, which reads them.

use anyhow::{Result, ensure};

use koan_golden::{Golden, GoldenRow, Typed};
use layout::{BYTES, FLOATS, MAGIC, WORDS};

#[path = "../../firmware-example/src/pack.rs"]
#[allow(dead_code, reason = "reading is the firmware's part")]
mod layout;

/// Bytes of a pack before its first entry.
const HEADER: usize = 8;

/// Packs models into as few packs of at most `limit` bytes as their order allows.
pub fn packs(models: &[Golden], limit: usize) -> Result<Vec<Vec<u8>>> {
    let mut packs = Vec::new();
    let (mut entries, mut count) = (Vec::new(), 0);
    for model in models {
        let entry = entry(model);
        let length = entry.len();
        ensure!(
            HEADER + length <= limit,
            "model {}: {length} bytes with its rows do not fit the {limit} bytes of flash that \
             the firmware sets aside",
            model.name
        );
        if HEADER + entries.len() + length > limit {
            packs.push(pack(&std::mem::take(&mut entries), count));
            count = 0;
        }
        entries.extend(entry);
        count += 1;
    }
    packs.push(pack(&entries, count));
    Ok(packs)
}

fn pack(entries: &[u8], count: u32) -> Vec<u8> {
    [&MAGIC, &count.to_le_bytes()[..], entries].concat()
}

fn entry(model: &Golden) -> Vec<u8> {
    let rows: Vec<u8> = model.rows.iter().flat_map(row).collect();
    let first = model.rows.first();
    let lengths = [
        model.name.len(),
        model.blob.len(),
        first.map_or(0, |row| row.row.len()),
        first.map_or(0, |row| row.scores.len()),
        model.rows.len(),
        rows.len(),
    ];
    let mut entry: Vec<u8> = lengths.iter().flat_map(|&n| (n as u32).to_le_bytes()).collect();
    for part in [model.name.as_bytes(), &model.blob, &rows] {
        entry.extend(part);
        fill(&mut entry);
    }
    entry
}

fn row(row: &GoldenRow) -> Vec<u8> {
    let mut types = 0;
    let mut numbers = Vec::new();
    for typed in row.typed() {
        match typed {
            Typed::Floats(row) => {
                types |= FLOATS;
                numbers.extend(row.iter().flat_map(|x| x.to_le_bytes()));
            }
            Typed::Words(row) => {
                types |= WORDS;
                numbers.extend(row.iter().flat_map(|x| x.to_le_bytes()));
            }
            Typed::Bytes(row) => {
                types |= BYTES;
                numbers.extend(row);
            }
        }
        fill(&mut numbers);
    }
    let scores = row.scores.iter().flat_map(|score| score.to_le_bytes());
    types.to_le_bytes().into_iter().chain(numbers).chain(scores).collect()
}

fn fill(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, rows: Vec<GoldenRow>) -> Golden {
        Golden { name: name.to_owned(), blob: name.repeat(3).into_bytes(), rows }
    }

    /// Aligned as the firmware's flash is.
    fn aligned(pack: &[u8]) -> Vec<u32> {
        pack.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    #[test]
    fn what_is_packed_is_read() {
        let floats = GoldenRow { row: vec![1.5, f32::INFINITY, -0.0], scores: vec![-7, 8] };
        let words = GoldenRow { row: vec![-3.0, 2.0, 300.0], scores: vec![9, 10] };
        let bytes = GoldenRow { row: vec![0.0, 2.0, 255.0], scores: vec![11, 12] };
        let models = [model("first", vec![floats, words, bytes]), model("2", vec![])];
        let packs = packs(&models, 1000).unwrap();
        assert_eq!(packs.len(), 1);
        let words = aligned(&packs[0]);
        let mut entries = layout::read(bytemuck::cast_slice(&words)).unwrap();
        let first = entries.next().unwrap().unwrap();
        assert_eq!((first.name, first.blob), ("first", &b"firstfirstfirst"[..]));
        let rows: Vec<_> = first.rows.map(Option::unwrap).collect();
        assert_eq!(rows[0].floats, Some(&[1.5, f32::INFINITY, -0.0][..]));
        assert_eq!((rows[0].words, rows[0].bytes, rows[0].scores), (None, None, &[-7, 8][..]));
        assert_eq!((rows[1].words, rows[1].bytes), (Some(&[-3, 2, 300][..]), None));
        assert_eq!(rows[2].bytes, Some(&[0, 2, 255][..]));
        let second = entries.next().unwrap().unwrap();
        assert_eq!((second.name, second.blob, second.rows.count()), ("2", &b"222"[..], 0));
        assert!(entries.next().is_none());
    }

    #[test]
    fn models_are_spread_and_none_is_lost() {
        let names = ["a", "b", "c", "d", "e"];
        let models = names.map(|name| model(name, vec![]));
        let packs = packs(&models, HEADER + 2 * entry(&models[0]).len()).unwrap();
        let read = packs.iter().flat_map(|pack| {
            let words = aligned(pack);
            let entries = layout::read(bytemuck::cast_slice(&words)).unwrap();
            entries.map(|entry| entry.unwrap().name.to_owned()).collect::<Vec<_>>()
        });
        assert_eq!(read.collect::<Vec<_>>(), names);
        assert_eq!(packs.len(), 3);
        assert!(super::packs(&models, 20).is_err());
    }

    #[test]
    fn what_is_no_pack_is_refused() {
        assert!(layout::read(b"KCAP\0\0\0\0").is_none());
        let cut = aligned(&packs(&[model("a", vec![])], 100).unwrap()[0][..20]);
        let mut entries = layout::read(bytemuck::cast_slice(&cut)).unwrap();
        assert!(matches!(entries.next(), Some(None)));
    }
}
