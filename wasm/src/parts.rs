//! Which models a build runs: all of them, or those that a page loads fewer bytes for. The flags
//! `--cfg=koan_tables` and `--cfg=koan_images` choose.

use koan::{Form, Needs};
use wasm_bindgen::prelude::wasm_bindgen;

/// The small form of what the build runs.
pub(crate) struct Profile;

impl koan::Profile for Profile {
    const NEEDS: Needs = if cfg!(koan_tables) {
        Needs::ALL.without(Needs::CONV).without(Needs::SERIES)
    } else if cfg!(koan_images) {
        // Filters have transforms of their own; no bank of these has groups.
        Needs::ALL
            .without(Needs::FOURIER)
            .without(Needs::STUMP)
            .without(Needs::BIN)
            .without(Needs::MAXOUT)
            .without(Needs::SIGMOID)
            .without(Needs::FERN)
            .without(Needs::HADAMARD)
            .without(Needs::DENSE)
            .without(Needs::GROUPS)
    } else {
        Needs::ALL
    };
    const FORM: Form = Form::Small;
}

/// In the order of their codes in a blob.
const FAMILIES: [Needs; 9] = [
    Needs::LINEAR,
    Needs::FOURIER,
    Needs::STUMP,
    Needs::BIN,
    Needs::MAXOUT,
    Needs::SIGMOID,
    Needs::CONV,
    Needs::FERN,
    Needs::SERIES,
];

/// The families of the build, a bit for each by its code: JavaScript runs no model of others.
#[wasm_bindgen]
pub fn families() -> u32 {
    const {
        let mut families = 0;
        let mut code = 0;
        while code < FAMILIES.len() {
            if <Profile as koan::Profile>::NEEDS.covers(FAMILIES[code]) {
                families |= 1 << code;
            }
            code += 1;
        }
        families
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_for_all_has_all_families() {
        assert_eq!(families(), 0x1ff);
    }
}
