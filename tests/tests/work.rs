//! The bound on a model's work: both parsers count it, and refuse the same blobs.

use koan::{Error, Limits, Model};
use koan_tests::mutate::fix_crc;
use koan_tests::random::Random;
use koan_tests::reference::Reference;

/// A blob of banks without outputs, by its bytes. What it would compute is not asked.
fn blob(inputs: u16, banks: &[Vec<u8>]) -> Vec<u8> {
    let mut blob = b"KOAN\x01\x00".to_vec();
    blob.extend(inputs.to_le_bytes());
    // No outputs, seed and check word; the map of all inputs.
    blob.extend([0; 1 + 8 + 2 + 6]);
    for (number, bank) in banks.iter().enumerate() {
        let at = blob.len();
        blob.extend(bank);
        if number + 1 < banks.len() {
            blob[at + 1] |= 1 << 5;
        }
    }
    blob.extend([0; 8]);
    fix_crc(&mut blob);
    blob
}

/// A number up to `most`, of any magnitude, rather a large one.
fn any(random: &mut Random, most: usize) -> usize {
    let count = most.ilog2() as usize + 1;
    let bits = 1 + random.below(count).max(random.below(count)).max(random.below(count));
    (1 + random.below(1 << bits)).min(most)
}

/// A bank of a family: its kind, options, features, scale, parameters, groups, list.
fn bank(family: u8, inputs: u16, random: &mut Random) -> Vec<u8> {
    let laws: &[u8] = match family {
        1 => &[1, 2, 3, 4],
        2 => &[1, 5],
        3 => &[6],
        4 | 5 => &[1, 3, 4],
        _ => &[4],
    };
    let mut law = laws[random.below(laws.len())];
    let grouped = (1..=3).contains(&family) && law != 4 && random.below(3) == 0;
    let listed = random.below(2) == 0;
    let most = if family == 3 { 8000 } else { 65_535 };
    let mut features = any(random, most);
    let mut parameters = Vec::new();
    match family {
        3 => parameters.push(1 + random.below(4) as u8),
        4 => {
            parameters.push(any(random, 255) as u8);
            let shared = if random.below(2) == 0 { any(random, 65_535) as u16 } else { 0 };
            parameters.extend(shared.to_le_bytes());
        }
        6 => {
            let mode = 1 | (random.below(16) as u8) << 4;
            let height = [1, 2, 16][random.below(3)];
            let grid = 1 + random.below(2) as u8;
            parameters.extend([height, 1, 2 + random.below(20) as u8, mode, grid]);
            let cells = usize::from(grid) * if height == 1 { 1 } else { grid.into() };
            features = features.next_multiple_of(cells).min(65_532);
        }
        _ => {}
    }
    let mut groups = Vec::new();
    if grouped {
        let group_law = law;
        law = 0;
        let count = any(random, usize::from(inputs.min(255)));
        groups.push(count as u8);
        for number in 0..count {
            let rest = inputs - (count - 1) as u16;
            let inputs = if number == 0 { rest } else { 1 };
            groups.extend(inputs.to_le_bytes());
            groups.extend([group_law, 1, 0]);
        }
    }
    let mut list = Vec::new();
    if listed {
        // One gap, then neighbours: a bit each.
        let gap = any(random, (1 << 20) - 65_535);
        let zeros = gap >> 15;
        let low = gap & 0x7fff;
        let low_bits = 15;
        features = features.min(24_000);
        let mut bits = vec![false; zeros];
        bits.push(true);
        bits.extend((0..low_bits).map(|bit| low >> bit & 1 == 1));
        for _ in 1..features {
            bits.push(true);
            bits.extend([false; 15]);
        }
        let codes: Vec<u8> = bits
            .chunks(8)
            .map(|bits| bits.iter().enumerate().map(|(n, &bit)| u8::from(bit) << n).sum())
            .collect();
        list.push(low_bits);
        list.extend((codes.len() as u16).to_le_bytes());
        list.extend(codes);
    }
    let options = u8::from(grouped) << 4 | u8::from(listed) << 6;
    let mut bank = vec![family | law << 4, options];
    bank.extend((features as u16).to_le_bytes());
    bank.extend([1, 0]);
    [bank, parameters, groups, list].concat()
}

#[test]
fn both_parsers_count_the_same_work() {
    let mut random = Random::new(7);
    for family in 1..=6u8 {
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..3000 {
            // For images of up to 16 lines.
            let inputs = (any(&mut random, 65_535) as u16).max(1024) & !15;
            let blob = blob(inputs, &[bank(family, inputs, &mut random)]);
            match (Model::parse(&blob), Reference::parse(&blob)) {
                (Ok(model), Ok(reference)) => {
                    assert_eq!(u64::from(model.work()), reference.work());
                    accepted += 1;
                }
                (Err(error), Err(rule)) => {
                    let both = format!("{error}, {rule}");
                    assert_eq!(error.to_string().contains("`work`"), rule == "work", "{both}");
                    refused += usize::from(rule == "work");
                }
                (core, reference) => {
                    let reference = reference.map(|reference| reference.work());
                    panic!("family {family}: {core:?}, reference: {reference:?}")
                }
            }
        }
        println!("family {family}: {accepted} accepted, {refused} refused");
        // Thresholds and grids are cheap.
        let least = [100, 0, 10, 100, 100, 100][usize::from(family) - 1];
        assert!(accepted > 100 && refused >= least, "{accepted}, {refused}");
    }
}

/// 2^13 inputs, a pool of 2^13 − 1 projections, and units of three of them: exactly the
/// bound.
#[test]
fn the_bound_is_the_last_that_is_accepted() {
    let maxout = |features: u16| {
        let mut bank = vec![4 | 1 << 4, 0];
        bank.extend(features.to_le_bytes());
        bank.extend([1, 0, 3]);
        bank.extend(8191u16.to_le_bytes());
        blob(1 << 13, &[bank])
    };
    let largest = maxout(8192);
    let model = Model::parse(&largest).unwrap();
    assert_eq!(model.work(), koan::format::MAX_WORK);
    assert_eq!(Reference::parse(&largest).unwrap().work(), Reference::MOST_WORK);
    let error = Model::parse(&maxout(8193)).unwrap_err().to_string();
    assert!(error.contains("field `work`"), "{error}");
    assert_eq!(Reference::parse(&maxout(8193)).unwrap_err(), "work");
    // A program may allow less.
    let limits = Limits { work: model.work() - 1, ..Limits::NONE };
    let (what, needed, limit) = ("work", model.work(), limits.work);
    let refused = Model::parse_within(&largest, limits).err();
    assert_eq!(refused, Some(Error::Limit { what, needed, limit }));
}

/// Banks that are below the bound alone, but not together.
#[test]
fn the_work_of_all_banks_counts() {
    let fourier = |features: u16| {
        let mut bank = vec![1 | 3 << 4, 0];
        bank.extend(features.to_le_bytes());
        bank.extend([1, 0]);
        bank
    };
    for (features, accepted) in [(2047u16, true), (2048, false)] {
        let blob = blob(1 << 14, &[fourier(2048), fourier(features)]);
        assert_eq!(Model::parse(&blob).is_ok(), accepted);
        assert_eq!(Reference::parse(&blob).is_ok(), accepted);
    }
}
