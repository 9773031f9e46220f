//! Programs that differ in what they contain of the core, and in nothing else: what one
//! takes of flash more than the empty one is the core's, with what it needs of the
//! compiler's library (`cargo xtask cost`).

use core::borrow::Borrow;
use core::hint::black_box;

use koan::{BufferSizes, Buffers, Form, Model, Needs, OwnedBuffers, Predictor, Profile};

use crate::mark;

/// Memory for the model that the programs run.
pub type Fast = OwnedBuffers<{ FAST.inputs }, { FAST.block }, { FAST.wide }, { FAST.outputs }>;
/// The same in the small form.
pub type Short = OwnedBuffers<{ SMALL.inputs }, { SMALL.block }, { SMALL.wide }, { SMALL.outputs }>;

const FAST: BufferSizes = sizes(Form::Fast);
const SMALL: BufferSizes = sizes(Form::Small);

const fn sizes(form: Form) -> BufferSizes {
    const BLOB: &[u8] = include_bytes!("../../tests/models/digits-fourier-512.koan");
    match Model::parse(BLOB) {
        Ok(model) => model.buffer_sizes(form),
        Err(error) => panic!("{}", error.message()),
    }
}

/// A profile of a firmware's own: only classifiers of fourier features under the Hadamard
/// transform, with one input map and weights of 4 bits.
#[derive(Clone, Copy, Debug)]
pub struct Fourier;

impl Profile for Fourier {
    const NEEDS: Needs = Needs::FOURIER.and(Needs::HADAMARD).and(Needs::BITS_4);
    const FORM: Form = Form::Fast;
}

/// `main` around the class of the row and the blob that the host has put into flash; `None`
/// exits with a number that is no class.
#[macro_export]
macro_rules! flash {
    (|$row:ident, $blob:ident| $class:expr) => {
        #[$crate::entry]
        fn main() -> ! {
            $crate::exit(class($crate::packed()).map_or(100, |class| class as i32))
        }

        #[inline(never)]
        fn class(bytes: &[u8]) -> Option<usize> {
            let ($row, $blob) = $crate::flash::row_and_blob(bytes)?;
            $class
        }

        /// Never linked: nothing here can panic.
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            loop {}
        }
    };
}

/// The row, and behind it the blob's length and the blob.
#[inline]
#[must_use]
pub fn row_and_blob(bytes: &[u8]) -> Option<(&[i16], &[u8])> {
    let (row, bytes) = bytes.split_at_checked(2 * FAST.inputs)?;
    let (&length, bytes) = bytes.split_first_chunk()?;
    let blob = bytes.get(..u32::from_le_bytes(length) as usize)?;
    Some((bytemuck::try_cast_slice(row).ok()?, blob))
}

/// The class of a row, between marks.
#[inline]
pub fn class_of<'m, B: Buffers, P: Profile, M: Borrow<Model<'m>>>(
    mut predictor: Predictor<'m, B, P, M>,
    row: &[i16],
) -> Option<usize> {
    mark::start();
    let class = predictor.classify(black_box(row));
    mark::stop();
    class.ok()
}
