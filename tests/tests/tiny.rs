//! The example of the documentation is what it is said to be.

use std::fs;

use koan::{Family, Law, Model, Task};
use koan_tests::page;
use koan_tests::reference::Reference;
use koan_tests::tiny::{blob, path};
use koan_trainer::internal::blob::predictor;

#[test]
fn the_file_is_the_regenerated_model() {
    let file = fs::read(path()).unwrap();
    assert_eq!(file, blob().unwrap(), "on purpose? `cargo run -p koan-tests --bin golden`");
    let reference = Reference::parse(&file).unwrap();
    for row in [[0.5, -1.25], [-1.0, 1.0], [f32::NAN, 1e9]] {
        assert_eq!(predictor(&file).unwrap().scores(&row).unwrap(), reference.scores(&row));
    }
}

#[test]
fn the_page_shows_what_is_computed() {
    let page = fs::read_to_string(page::path()).unwrap();
    let expected = page::with_parts(&page, &blob().unwrap()).unwrap();
    let lines = page.lines().zip(expected.lines());
    for (number, (found, expected)) in lines.enumerate() {
        let advice = "on purpose? `cargo run -p koan-tests --bin golden`";
        assert_eq!(found, expected, "line {}: {advice}", number + 1);
    }
    assert_eq!(page.len(), expected.len());
}

#[test]
fn the_model_tells_left_from_right() {
    let blob = blob().unwrap();
    let model = Model::parse(&blob).unwrap();
    assert_eq!((model.task(), model.inputs(), model.outputs()), (Task::Classification, 2, 1));
    let bank = model.banks().next().unwrap();
    assert_eq!(
        (bank.family(), bank.law(), bank.width().bits()),
        (Family::Fourier, Law::Gaussian, 4)
    );
    let mut predictor = predictor(&blob).unwrap();
    predictor.self_test().unwrap();
    for (x, y) in [(1.0, 0.0), (1.0, -1.0), (2.0, 1.0), (0.5, 0.5)] {
        for (x, name) in [(x, "right"), (-x, "left")] {
            let class = predictor.classify(&[x, y]).unwrap();
            assert_eq!(model.class_name(class), Some(name), "{x}, {y}");
        }
    }
}
