//! Models that are checked when compiling.

/// Includes a blob as a module: the build fails if the blob is bad, and the
/// sizes of its buffers are constants.
///
/// The path is relative to the file that calls the macro, as for
/// [`include_bytes!`]. Blob and model stay in flash, and of the runtime the program only
/// contains what this model needs. The module holds `BLOB`, `MODEL`, and
///
/// - `predictor()`, a `const fn`: the model with working memory of its own, of the type
///   `Predictor`;
/// - `predictor_in(&mut buffers)`: the model in lent memory, of the type `Buffers`;
/// - `Profile`: what of the runtime it needs.
///
/// ```
/// koan::include_model!(pub mod tiny = "../tests/tiny.koan");
///
/// let mut predictor = tiny::predictor();
/// assert_eq!(predictor.classify(&[0.3f32, -1.2])?, 1);
/// assert_eq!(core::mem::size_of::<tiny::Buffers>(), 12);
/// # Ok::<(), koan::Error>(())
/// ```
///
/// With `small` before `mod` it is the small form: the same numbers from less code and
/// memory, and more slowly.
///
/// ```
/// koan::include_model!(small mod tiny = "../tests/tiny.koan");
/// assert_eq!(tiny::predictor().classify(&[0.3f32, -1.2])?, 1);
/// # Ok::<(), koan::Error>(())
/// ```
#[macro_export]
macro_rules! include_model {
    ($(#[$attribute:meta])* small $visibility:vis mod $name:ident = $path:expr) => {
        $crate::include_model!(@ $(#[$attribute])* $visibility $name $path, Small);
    };
    ($(#[$attribute:meta])* $visibility:vis mod $name:ident = $path:expr) => {
        $crate::include_model!(@ $(#[$attribute])* $visibility $name $path, Fast);
    };
    (@ $(#[$attribute:meta])* $visibility:vis $name:ident $path:expr, $form:ident) => {
        $(#[$attribute])*
        #[allow(dead_code)]
        $visibility mod $name {
            /// The bytes of the model, at a whole word: small cores then read words.
            pub static BLOB: &[u8] = &ALIGNED.0;

            #[repr(align(4))]
            struct Aligned<const N: usize>([u8; N]);

            static ALIGNED: Aligned<{ BLOB_BYTES.len() }> =
                Aligned(*::core::include_bytes!($path));

            /// The model, checked when compiling.
            pub const MODEL: $crate::Model<'static> =
                $crate::Model::from_words(&ALIGNED.0, CHECKED.to_words());

            // These are for the compiler alone: what refers to them when the program runs would
            // bring a second copy of the blob into it.
            const BLOB_BYTES: &[u8] = ::core::include_bytes!($path);
            #[allow(long_running_const_eval)]
            const CHECKED: $crate::Model<'static> = match $crate::Model::parse(BLOB_BYTES) {
                Ok(model) => model,
                Err(error) => ::core::panic!("{}", error.message_when_compiling()),
            };

            static PLACED: $crate::Model<'static> = MODEL;
            const SIZES: $crate::BufferSizes = CHECKED.buffer_sizes($crate::Form::$form);

            /// What the model needs of the runtime.
            #[derive(Clone, Copy, Debug)]
            pub struct Profile;

            impl $crate::Profile for Profile {
                const NEEDS: $crate::Needs = CHECKED.needs();
                const FORM: $crate::Form = $crate::Form::$form;
                const ONLY: ::core::option::Option<$crate::Only> =
                    ::core::option::Option::Some($crate::Only::of(&PLACED, &BANKS));
            }

            static BANKS: [$crate::Bank<'static>; CHECKED.bank_count()] = MODEL.bank_array();

            /// Stands for the model, where it lies.
            #[derive(Clone, Copy, Debug)]
            pub struct Placed;

            impl ::core::borrow::Borrow<$crate::Model<'static>> for Placed {
                #[inline(always)]
                fn borrow(&self) -> &$crate::Model<'static> {
                    &PLACED
                }
            }

            /// The working memory of the model, its sizes known when compiling.
            pub type Buffers = $crate::OwnedBuffers<
                { SIZES.inputs },
                { SIZES.block },
                { SIZES.wide },
                { SIZES.outputs },
            >;

            /// The model, where it lies, with working memory of its own, or in `B`.
            pub type Predictor<B = Buffers> =
                $crate::Predictor<'static, B, Profile, Placed>;

            /// The model with working memory of its own.
            #[must_use]
            pub const fn predictor() -> Predictor {
                $crate::Predictor::built_in(Placed, Buffers::new())
            }

            /// The model with working memory that lies elsewhere.
            #[must_use]
            pub const fn predictor_in(buffers: &mut Buffers) -> Predictor<&mut Buffers> {
                $crate::Predictor::built_in(Placed, buffers)
            }
        }
    };
}
