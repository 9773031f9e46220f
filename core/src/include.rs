//! Models that are checked when compiling.

/// Includes a blob as a module: the build fails if the blob is bad, and the
/// sizes of its buffers are constants.
///
/// The path is relative to the file that calls the macro, as for
/// [`include_bytes!`]. The module holds `BLOB`, `MODEL`, the types `Buffers` and
/// `Predictor`, and `predictor()`. Blob and model stay in flash.
///
/// ```
/// koan::include_model!(pub mod tiny = "../tests/tiny.koan");
///
/// let mut predictor = tiny::predictor()?;
/// assert_eq!(predictor.classify(&[0.3f32, -1.2])?, 1);
/// assert_eq!(core::mem::size_of::<tiny::Buffers>(), 12);
/// # Ok::<(), koan::Error>(())
/// ```
#[macro_export]
macro_rules! include_model {
    ($(#[$attribute:meta])* $visibility:vis mod $name:ident = $path:expr) => {
        $(#[$attribute])*
        $visibility mod $name {
            /// The bytes of the model.
            pub static BLOB: &[u8] = ::core::include_bytes!($path);

            /// The model, checked when compiling.
            #[allow(long_running_const_eval)]
            pub const MODEL: $crate::Model<'static> = match $crate::Model::parse(BLOB_BYTES) {
                Ok(model) => model,
                Err(error) => ::core::panic!("{}", error.message()),
            };

            const BLOB_BYTES: &[u8] = ::core::include_bytes!($path);
            const SIZES: $crate::BufferSizes = MODEL.buffer_sizes();

            /// The working memory of the model, its sizes known when compiling.
            pub type Buffers = $crate::OwnedBuffers<
                { SIZES.inputs },
                { SIZES.block },
                { SIZES.wide },
                { SIZES.outputs },
            >;

            /// The model, where it lies, with working memory of its own.
            pub type Predictor =
                $crate::Predictor<'static, Buffers, &'static $crate::Model<'static>>;

            /// The model with working memory of its own.
            ///
            /// # Errors
            /// Only when this build's generator is not the trainer's.
            pub fn predictor() -> Result<Predictor, $crate::Error> {
                $crate::Predictor::new(&MODEL, Buffers::new())
            }
        }
    };
}
