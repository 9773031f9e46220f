//! Two slots of flash for a model that is replaced while the device is in the field. No alloc,
//! no unsafe.
//!
//! A new model goes into the slot that is not in force, is read back and looked at, and only
//! then gets the header that makes it count. The next start runs it on trial: unless the
//! application confirms it, the start after that has the old model again. Whenever power is
//! cut, in the middle of a word or of an erase too, the old or the new model is there.
//!
//! ```
//! use embedded_storage::nor_flash::NorFlash;
//! use koan::{Any, Limits, OwnedBuffers};
//! use koan_store::{Standing, Store, check_model};
//!
//! /// `flash` is the driver of the chip's crate, `new` a blob that has come over some line.
//! fn life<F: NorFlash>(flash: F, new: &[u8]) {
//!     let mut memory = [0; 1024]; // a model is read into it
//!     let mut buffers = OwnedBuffers::<64, 64, 64, 8>::new();
//!     let limits = Limits { work: 1 << 20, memory: 2048 };
//!     let mut check = |blob: &[u8]| check_model::<Any>(blob, limits, &mut buffers);
//!
//!     // At every start. Here nothing has been stored: the firmware runs the model that it came
//!     // with.
//!     let mut store = Store::new(flash, 0, 8192).unwrap();
//!     assert_eq!(store.start(&mut memory, &mut check).unwrap(), None);
//!
//!     // An update, in pieces as they come.
//!     store.begin(new.len()).unwrap();
//!     for piece in new.chunks(100) {
//!         store.write(piece).unwrap();
//!     }
//!     store.finish(&mut memory, &mut check).unwrap();
//!
//!     // After a reset.
//!     let mut store = Store::new(store.into_flash(), 0, 8192).unwrap();
//!     let found = store.start(&mut memory, &mut check).unwrap().unwrap();
//!     assert_eq!((found.standing, &memory[..found.length]), (Standing::OnTrial, new));
//!     store.confirm().unwrap(); // it works
//! }
//! # mod flash { include!("tests/flash.rs"); }
//! # life(flash::Flash::<4, 4096>::new(4, 1), include_bytes!("../../../core/tests/tiny.koan"));
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod check;
mod error;
mod slot;
mod store;
#[cfg(test)]
mod tests;

pub use check::check_model;
pub use error::Error;
pub use store::{Found, Standing, Store};
