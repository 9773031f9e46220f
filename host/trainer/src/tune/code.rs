//! What the runtime takes of a microcontroller's flash: a sum of the parts that a model needs.

use koan::{Form, Model, Needs};

/// A part of the runtime, and its bytes in the fast and in the small form.
type Part = (Needs, [u16; 2]);

/// What every program has.
const BASE: [u16; 2] = [980, 690];
/// More than one output.
const OUTPUTS: [u16; 2] = [80, 90];

/// Least squares of relative errors, none below 0, in tens of bytes: the 14 models of
/// `tests/models` and 116 others of all families, projections, input maps and bits, half of them
/// from searches, each linked with `include_model!` in both forms for a Cortex-M0 (less the 600
/// bytes that the measuring takes). The root mean square of the relative errors is 2.6 %; the
/// largest is 14 %, for ten outputs of 2 bits each.
const FAMILIES: [Part; 9] = [
    (Needs::LINEAR, [850, 830]),
    (Needs::FOURIER, [1040, 820]),
    (Needs::STUMP, [1760, 1580]),
    (Needs::BIN, [1610, 1670]),
    (Needs::MAXOUT, [870, 850]),
    (Needs::SIGMOID, [1070, 1070]),
    (Needs::CONV, [4820, 4720]),
    (Needs::FERN, [1050, 1110]),
    (Needs::SERIES, [2050, 2000]),
];
const PARTS: [Part; 5] = [
    (Needs::GROUPS, [90, 110]),
    (Needs::LISTS, [250, 260]),
    (Needs::LOGARITHM, [350, 390]),
    (Needs::MAPS, [70, 130]),
    // Beside 0 bytes for those of 8 bits.
    (Needs::BITS_16, [80, 140]),
];
/// Of families that mix inputs by random projections.
const PROJECTIONS: [Part; 2] = [(Needs::HADAMARD, [1290, 920]), (Needs::DENSE, [1530, 1160])];
/// Of families whose features are multiplied by weights, instead of picking them.
const WEIGHTS: [Part; 3] =
    [(Needs::BITS_2, [290, 90]), (Needs::BITS_3, [270, 70]), (Needs::BITS_4, [220, 80])];

/// About how many bytes the runtime's code and constants take on a Cortex-M0 beside the model, in
/// a program with `include_model!` and the recommended profile.
#[must_use]
pub fn code_bytes(model: &Model<'_>, form: Form) -> usize {
    code(model.needs(), model.outputs(), form)
}

/// The same of a model that needs these parts.
pub(super) fn code(needs: Needs, outputs: usize, form: Form) -> usize {
    let place = match form {
        Form::Fast => 0,
        Form::Small => 1,
    };
    let sum = |parts: &[Part]| -> usize {
        let needed = parts.iter().filter(|(part, _)| needs.covers(*part));
        needed.map(|(_, bytes)| usize::from(bytes[place])).sum()
    };
    let any = |families: &[Needs]| families.iter().any(|family| needs.covers(*family));
    let mut bytes = usize::from(BASE[place]) + sum(&FAMILIES) + sum(&PARTS);
    if any(&[Needs::FOURIER, Needs::MAXOUT, Needs::SIGMOID]) {
        bytes += sum(&PROJECTIONS);
    }
    let picks = Needs::BIN.and(Needs::FERN);
    let multiplied = FAMILIES.iter().map(|(family, _)| *family).filter(|it| !picks.covers(*it));
    if any(&multiplied.collect::<Vec<_>>()) {
        bytes += sum(&WEIGHTS);
    }
    if outputs > 1 {
        bytes += usize::from(OUTPUTS[place]);
    }
    bytes
}

/// The least that the code of any model takes.
pub(super) fn least(form: Form) -> usize {
    code(Needs::LINEAR, 1, form)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stored figures of the named models, less what the measuring takes, within a sixth.
    #[test]
    fn code_is_near_what_was_linked() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let read = |path: &str| std::fs::read(format!("{root}/{path}")).unwrap();
        let stored = |path: &str| -> serde_json::Value {
            serde_json::from_slice(&read(&format!("firmware-example/{path}"))).unwrap()
        };
        let (costs, alone) = (stored("cost.json"), stored("flash.json"));
        let models = costs["Cortex-M0"].as_object().unwrap();
        let flash = |value: &serde_json::Value| value["flash"].as_f64().unwrap();
        let measuring = flash(&models["digits-fourier-512"]) - flash(&alone["model included"]);
        for (name, cost) in models {
            let (file, form) = match name.strip_suffix(", small") {
                Some(file) => (file, Form::Small),
                None => (name.as_str(), Form::Fast),
            };
            let blob = read(&format!("tests/models/{file}.koan"));
            let told = code_bytes(&Model::parse(&blob).unwrap(), form) as f64;
            let apart = told / (flash(cost) - measuring);
            assert!(
                (5.0 / 6.0..7.0 / 6.0).contains(&apart),
                "{name}: {told}, {apart} of the figure"
            );
        }
    }

    #[test]
    fn each_part_adds_to_the_code() {
        let linear = Needs::LINEAR.and(Needs::BITS_8);
        for form in [Form::Fast, Form::Small] {
            let bytes = |needs: Needs, outputs| code(needs, outputs, form);
            assert!(least(form) == bytes(linear, 1) && bytes(linear, 2) > least(form));
            assert!(bytes(linear.and(Needs::BITS_4), 1) > bytes(linear, 1));
            // Ferns pick weights, and draw no projections.
            let ferns = Needs::FERN.and(Needs::DENSE);
            assert_eq!(bytes(ferns.and(Needs::BITS_2), 1), bytes(Needs::FERN, 1));
            assert!(
                bytes(ferns.and(Needs::FOURIER), 1) > bytes(Needs::FERN.and(Needs::FOURIER), 1)
            );
        }
    }
}
