//! The golden models through the core alone, light enough for Miri: there it
//! shows the same bits on a 32-bit and on a big-endian machine.

use koan::{Buffers, Input, Model, OwnedBuffers, Predictor};
use koan_golden::{Typed, folder, paths, read};

/// As in the firmware.
type Memory = OwnedBuffers<1024, 1024, 1024, 32>;

/// Under Miri, which is slow, one of so many models; the number is prime to
/// the numbers of widths, outputs and kinds.
const STRIDE: usize = if cfg!(miri) { 13 } else { 1 };
/// Other ones on a big-endian machine.
const FIRST: usize = if cfg!(all(miri, target_endian = "big")) { 6 } else { 0 };
/// Under Miri, larger models are left out: two of them would take longer than all others.
const LARGEST: usize = 400;

fn scores<I: Input, B: Buffers>(
    core: &mut Predictor<'_, B>,
    row: &[I],
) -> Result<Vec<i32>, String> {
    core.scores(row).map(<[i32]>::to_vec).map_err(|error| error.to_string())
}

#[test]
fn the_core_gives_the_golden_scores_in_every_type() {
    let mut replayed = 0;
    for path in paths(&folder()).unwrap().iter().skip(FIRST).step_by(STRIDE) {
        let golden = read(path).unwrap();
        if cfg!(miri) && golden.blob.len() > LARGEST {
            continue;
        }
        let name = &golden.name;
        let model = Model::parse(&golden.blob).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut memory = Memory::new();
        let mut core = Predictor::new(model, memory.workspace())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        core.self_test().unwrap_or_else(|error| panic!("{name}: {error}"));
        golden
            .replay(|row| match row {
                Typed::Floats(row) => scores(&mut core, row),
                Typed::Words(row) => scores(&mut core, row),
                Typed::Bytes(row) => scores(&mut core, row),
            })
            .unwrap_or_else(|difference| panic!("{difference}"));
        replayed += 1;
    }
    assert!(replayed > 0);
    println!("{replayed} golden models replayed");
}
