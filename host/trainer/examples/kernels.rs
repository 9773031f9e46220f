//! Speed of the kernels of this machine, and of faer's products of f64 beside them.
//!
//! `kernels [FEATURES [ROUNDS [KERNEL…]]]`: the Gram matrix of 1,024 rows of random bytes on one
//! thread, layout included, ROUNDS times; the ways take turns, and the least time of each
//! counts, since other programs can only add to it.

use std::time::Instant;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};
use koan_gram::{Block, Kernel};

/// As in the trainer.
const ROWS: usize = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| {
        arguments.get(at).map_or(default, |text| text.parse().expect("a number"))
    };
    let (features, rounds) = (number(0, 1000), number(1, 30));
    let named = arguments.get(2..).unwrap_or_default();
    let wanted = |kernel: &Kernel| {
        kernel.is_supported() && (named.is_empty() || named.contains(&format!("{kernel:?}")))
    };
    let kernels: Vec<Kernel> = Kernel::ALL.into_iter().filter(wanted).collect();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(|| run(&kernels, features, rounds));
}

fn run(kernels: &[Kernel], features: usize, rounds: usize) {
    let value = |i: usize| i16::from(((i as u32).wrapping_mul(0x9e37_79b9) >> 24) as i8);
    let values: Vec<i16> = (0..features * ROWS).map(value).collect();
    let mut least = vec![[f64::INFINITY; 2]; kernels.len()];
    let mut floats = f64::INFINITY;
    let mut gram = Mat::<f64>::zeros(features, features);
    for _ in 0..rounds {
        for (kernel, least) in kernels.iter().zip(&mut least) {
            let mut columns: Vec<&mut [f64]> = gram
                .as_mut()
                .col_iter_mut()
                .filter_map(|column| Some(column.try_as_col_major_mut()?.as_slice_mut()))
                .collect();
            let start = Instant::now();
            let block = Block::with_kernel(*kernel, &values, features);
            let layout = start.elapsed().as_secs_f64();
            block.add_to(&mut columns);
            let all = start.elapsed().as_secs_f64();
            *least = [least[0].min(layout), least[1].min(all)];
        }
        let start = Instant::now();
        let matrix = Mat::from_fn(features, ROWS, |k, row| f64::from(values[row * features + k]));
        triangular::matmul(
            gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            matrix.as_ref(),
            BlockStructure::Rectangular,
            matrix.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        floats = floats.min(start.elapsed().as_secs_f64());
    }
    let products = (ROWS * features * (features + 1) / 2) as f64;
    let rate = |seconds: f64| products / seconds / 1e9;
    println!("f64: {:.2} ms; {:.1} products a ns", 1e3 * floats, rate(floats));
    for (kernel, [layout, all]) in kernels.iter().zip(least) {
        println!(
            "{kernel:?}: {:.2} ms, of it layout {:.2} ms; {:.1} products a ns; {:.1} times f64",
            1e3 * all,
            1e3 * layout,
            rate(all),
            floats / all
        );
    }
}
