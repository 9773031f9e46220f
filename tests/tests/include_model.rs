//! Models that are checked when compiling. That a bad blob fails the build is
//! the `compile_fail` example of this package's documentation.
//!
//! `long_running_const_eval` is an error by default: that this file compiles
//! shows that the macro copes with a model as large as a digit recogniser.

use koan::{Form, Model, Task};
use koan_tests::golden::all;

koan::include_model!(
    /// A model as large as a recogniser of digits.
    pub mod digits = "../golden/digits.koan"
);
koan::include_model!(mod shared = "../golden/maxout-hadamard-shared-w3even-t3.koan");
koan::include_model!(small mod slow = "../golden/fourier-hadamard-w16odd-t1.koan");

#[test]
fn the_constants_are_the_models() {
    const CLASSES: usize = digits::MODEL.classes();
    const NAMES: [u8; CLASSES] = [0; 10];
    assert_eq!(NAMES.len(), 10);
    assert_eq!(digits::MODEL.inputs(), 64);
    assert_eq!(digits::MODEL.features(), 512);
    assert_eq!(digits::MODEL.task(), Task::Classification);
    assert_eq!(digits::MODEL.class_name(7), Some("7"));
    assert_eq!(digits::MODEL.blob(), digits::BLOB);
    let parsed = Model::parse(shared::BLOB).unwrap();
    assert_eq!(parsed.buffer_sizes(Form::Fast), shared::MODEL.buffer_sizes(Form::Fast));
    let sizes = shared::MODEL.buffer_sizes(Form::Fast);
    // The owned buffers hold what the model needs and nothing else.
    assert!(sizes.wide > 0);
    assert!(size_of::<shared::Buffers>() >= sizes.bytes());
    assert!(size_of::<shared::Buffers>() < sizes.bytes() + 3 * align_of::<shared::Buffers>());
}

#[test]
fn included_models_give_the_golden_scores() {
    let golden = all();
    let rows = |name: &str| {
        let found = golden.iter().find(|golden| golden.name == name);
        found.expect("a golden model of this name").rows.clone()
    };
    let mut predictor = digits::predictor();
    predictor.self_test().unwrap();
    for row in rows("digits") {
        assert_eq!(predictor.scores(&row.row).unwrap(), row.scores);
    }
    let mut predictor = shared::predictor();
    predictor.self_test().unwrap();
    for row in rows("maxout-hadamard-shared-w3even-t3") {
        assert_eq!(predictor.scores(&row.row).unwrap(), row.scores);
    }
    let mut buffers = slow::Buffers::new();
    let mut predictor = slow::predictor_in(&mut buffers);
    predictor.self_test().unwrap();
    for row in rows("fourier-hadamard-w16odd-t1") {
        assert_eq!(predictor.scores(&row.row).unwrap(), row.scores);
    }
}
