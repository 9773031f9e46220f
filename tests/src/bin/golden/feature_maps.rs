//! Models without outputs, of every family and of all at once.

use koan::{Conv, Family, Law, Series};
use koan_tests::feature_map::FeatureMap;
use koan_tests::random::Random;
use koan_trainer::internal::blob::{BankSpec, MapSpec, ModelSpec};
use koan_trainer::internal::nearest;

use crate::ferns;
use crate::parts::{Kind, bank, blob_of, kept, kind_name};
use crate::series;
use crate::shapes::{IMAGE, kind};

/// Inputs of every model: an image of 4 × 5 pixels, too.
const INPUTS: u16 = 20;

fn feature_map(name: String, seed: u64, banks: Vec<BankSpec>) -> FeatureMap {
    let mut random = Random::new(seed);
    let map = MapSpec::Shared(nearest::map(100.0, 90.0, false));
    let spec = ModelSpec::features(random.bits(), INPUTS, map, banks);
    let (blob, _) = blob_of(&name, &spec);
    let mut row = |number: &dyn Fn(&mut Random) -> f32| -> Vec<f32> {
        (0..INPUTS).map(|_| number(&mut random)).collect()
    };
    let rows = vec![
        row(&|random| random.below(256) as f32),
        row(&|random| random.below(600) as f32 - 200.0),
        row(&|random| random.below(4000) as f32 / 16.0),
    ];
    FeatureMap::new(name.clone(), blob, rows).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub fn models() -> Vec<FeatureMap> {
    let conv = kind(Conv { height: 4, grid: 2, transform: 16, ..IMAGE });
    let kinds: Vec<(Kind, u16)> = vec![
        ((Family::Linear, Law::None, false), INPUTS),
        ((Family::Fourier, Law::Gaussian, false), 9),
        ((Family::Fourier, Law::Hadamard, false), 40),
        ((Family::Stump, Law::Uniform, false), 24),
        ((Family::Bin { slot_bits: 5 }, Law::Gamma2, false), 7),
        ((Family::Maxout { pool: 3, shared: 0 }, Law::Hadamard, false), 21),
        // Of five projections six are chosen: often the same.
        ((Family::Maxout { pool: 6, shared: 5 }, Law::Sign, false), 20),
        ((Family::Sigmoid, Law::Gaussian, false), 19),
        (conv, 18 * 4),
    ];
    let banks: Vec<_> =
        kinds.iter().map(|&(kind, features)| bank(kind, INPUTS, features)).collect();
    let single =
        kinds.iter().zip(&banks).map(|(&(kind, _), bank)| (kind_name(kind), vec![bank.clone()]));
    let mut models: Vec<_> = single.collect();
    let mut random = Random::new(0xfea7);
    let lists = banks.iter().map(|bank| kept(bank.clone(), 5, INPUTS, &mut random)).collect();
    models.push(("all".to_owned(), banks));
    models.push(("all-kept".to_owned(), lists));
    let fern = ferns::kind(3, Law::Gaussian);
    let ferns = bank(fern, INPUTS, 10);
    let list = kept(ferns.clone(), 900, INPUTS, &mut random);
    models.push((kind_name(fern), vec![ferns]));
    models.push((format!("kept-{}", kind_name(fern)), vec![list]));
    let series = bank(series::kind(Series { dilations: 2, ..series::SERIES }), INPUTS, 50);
    let list = kept(series.clone(), 30, INPUTS, &mut random);
    models.push(("series".to_owned(), vec![series]));
    models.push(("kept-series".to_owned(), vec![list]));
    let numbered = models.into_iter().enumerate();
    numbered.map(|(number, (name, banks))| feature_map(name, number as u64, banks)).collect()
}
