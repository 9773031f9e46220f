//! A model as C: its blob and constants, what of the runtime it needs, and examples.

use std::fmt::Write;

use koan::{Family, Law, Model, Task};
use koan_data::{Schema, Window};
use koan_trainer::internal::{listing, row};

use crate::c_size::c_size;
use crate::config;
use crate::name::{self, Unique, comment, constant};

/// Bytes of the blob on a line.
const ON_A_LINE: usize = 16;

/// Around what needs rows of float.
pub(super) const FLOATS_ARE_BUILT: &str = "#if !defined(KOAN_NO_F32) || KOAN_IS_0(KOAN_NO_F32)";

/// A model on its way to C.
pub struct Program<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) schema: Option<&'m Schema>,
    /// The model's file, for comments.
    file: String,
    /// The model's name as a variable and before constants.
    pub(super) name: String,
    pub(super) upper: String,
}

/// What `koan_model` holds beside the blob, as `koan_parse` finds it.
struct Layout {
    head: usize,
    weights: usize,
    sections: usize,
    halves: usize,
    words: usize,
}

impl Layout {
    fn of(model: &Model<'_>) -> Self {
        let outputs = model.outputs();
        // In front of the head are four parts of the header, and the banks.
        let is_bank = |name: &str| name.starts_with("bank ") || name.starts_with("kept features");
        let parts = listing::parts(model);
        let ahead = parts.iter().skip(4).take_while(|part| is_bank(&part.name)).count();
        let head = parts.iter().take(4 + ahead).map(|part| part.length).sum();
        let multipliers = model.bank_count() * outputs;
        let multipliers = if multipliers > 1 { 2 * multipliers } else { 0 };
        let weights = head + if outputs > 0 { 5 + 4 * outputs + multipliers } else { 0 };
        let rows: usize = model.banks().map(|bank| bank.row_bytes()).sum();
        let (halves, words) = buffers(model);
        Self { head, weights, sections: weights + rows * outputs, halves, words }
    }
}

/// The name of a place of a row, behind the model's.
fn column_constant(place: &row::Place<'_>) -> String {
    let value = place.value.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
    let column = constant(&format!("{}{value}", place.spelled()));
    // Columns without a name are called so already.
    if column.starts_with("COLUMN_") { column } else { format!("COLUMN_{column}") }
}

/// The lines of a header with the constants that programs use; not those of the memory, which is
/// declared by a macro.
pub fn constants(header: &str) -> impl Iterator<Item = &str> {
    let is_constant = |line: &&str| {
        let words: Vec<&str> = line.split(' ').take(3).collect();
        matches!(words[..], ["#define", name, value]
            if value.starts_with(|c: char| c.is_ascii_digit())
                && !name.ends_with("_HALVES") && !name.ends_with("_WORDS"))
    };
    header.lines().filter(is_constant)
}

/// Numbers of 16 and of 32 bits that the runtime works in.
pub(crate) fn buffers(model: &Model<'_>) -> (usize, usize) {
    let inputs = model.inputs();
    let length = inputs.next_power_of_two().max(8);
    let (mut halves, mut words) = (inputs, 0);
    for bank in model.banks() {
        let hadamard = bank.law() == Law::Hadamard;
        let (more, its) = match bank.family() {
            Family::Conv(conv) => (0, 2 * usize::from(conv.transform)),
            Family::Series(_) => (0, 16),
            Family::Fourier if hadamard && inputs < 256 => (1, length / 2),
            Family::Fourier if hadamard => (length, 0),
            Family::Maxout { shared, .. } if shared > 0 => {
                (0, usize::from(shared).next_multiple_of(if hadamard { length } else { 1 }))
            }
            Family::Maxout { .. } | Family::Sigmoid if hadamard => (0, length),
            _ => (0, 0),
        };
        halves = halves.max(inputs + more);
        words = words.max(its);
    }
    (halves, words)
}

impl<'m> Program<'m> {
    /// Of the model in `file`, whose name is made from `stem`.
    pub fn new(model: &'m Model<'m>, schema: Option<&'m Schema>, file: &str, stem: &str) -> Self {
        let name = name::model(stem);
        let upper = name.to_ascii_uppercase();
        Self { model, schema, file: comment(file), name, upper }
    }

    /// The name of its files and of its variable.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What of the runtime the model does not need.
    pub fn config(&self) -> String {
        config::text(self.model, &self.file)
    }

    /// Constants and declarations.
    pub fn header(&self) -> String {
        let Self { model, upper, name, .. } = self;
        let (layout, size) = (Layout::of(model), c_size(model));
        let mut text = format!(
            "/* The model {}: {} of {} in {} bytes. `koan export` made this file.\n \
             * On a Cortex-M0 (gcc -Os) it takes about {} bytes of code, {} of memory, about {} of \
             stack. */\n\
             #ifndef KOAN_{upper}_H\n#define KOAN_{upper}_H\n\n#include \"koan.h\"\n\n",
            self.file,
            self.kind(),
            match model.inputs() {
                1 => "1 input".to_owned(),
                inputs => format!("{inputs} inputs"),
            },
            model.blob().len(),
            size.code,
            size.memory,
            size.stack,
        );
        let mut numbers = vec![
            ("INPUTS", model.inputs()),
            ("OUTPUTS", model.outputs()),
            ("CLASSES", model.classes()),
            ("FEATURES", model.features()),
            ("HALVES", layout.halves),
            ("WORDS", layout.words),
        ];
        if let Some(window) = self.window() {
            // As `koan inspect` tells them.
            numbers.push(("SAMPLES", window.samples));
            numbers.push(("CHANNELS", model.inputs() / window.samples.max(1)));
            numbers.push(("HOP", window.stride));
        }
        let call = self.call();
        _ = writeln!(
            text,
            "/* Rows of int16_t ({name}_{call}_i16) are whole numbers from -32768 to 32767, of uint8_t\n \
             * from 0 to 255, in the units of the data; rows of float ({name}_{call}_f32) are also\n \
             * larger numbers and fractions. */"
        );
        let mut unique = Unique::default();
        for (number, value) in numbers {
            let number = unique.of(number.to_owned());
            _ = writeln!(text, "#define {upper}_{number} {value}");
        }
        _ = writeln!(
            text,
            "/* Declares the constant `memory`, what predictions work in: static, and one for each task or\n \
             * thread that predicts. */\n\
             #define {upper}_{}(memory) \\\n    \
             KOAN_MEMORY_OF(memory, {upper}_HALVES, {upper}_WORDS, {upper}_OUTPUTS)\n",
            unique.of("MEMORY".to_owned())
        );
        for (class, (constant, its)) in self.class_constants().iter().enumerate() {
            _ = writeln!(text, "#define {upper}_{constant} {class} /* {} */", comment(its));
        }
        if let Some(schema) = self.schema {
            let numbered = match schema.columns.iter().any(|column| column.name.is_empty()) {
                true => "; columns without a name have their number in the data, from 1",
                false => "",
            };
            _ = writeln!(text, "\n/* A row: {}{numbered}. */", comment(&row::described(schema)));
            let places = row::places(schema);
            for (place, (its, constant)) in places.iter().zip(self.columns()).enumerate() {
                let told = comment(&its.to_string());
                _ = writeln!(text, "#define {upper}_{constant} {place} /* {told} */");
            }
        }
        let stand_ins = self.stand_ins();
        if !stand_ins.is_empty() {
            _ = writeln!(
                text,
                "\n/* What stands in for numbers that are not known: a row has no NaN, which would be \
                 taken for\n * the offset of its input map. Round them for rows of int16_t and uint8_t. */"
            );
        }
        for (_, constant, value) in &stand_ins {
            _ = writeln!(text, "#define {upper}_{constant} {value:?}f");
        }
        let fill = if stand_ins.is_empty() {
            String::new()
        } else {
            format!(
                "{FLOATS_ARE_BUILT}\n/* Puts them in the place of NaN. */\n\
                 void {name}_fill(float *row);\n#endif\n"
            )
        };
        _ = write!(
            text,
            "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\nextern const koan_model {name};\n\
             {fill}#ifdef __cplusplus\n}}\n#endif\n\n{}\n#endif\n",
            self.calls()
        );
        text
    }

    /// The blob and the model.
    pub fn source(&self) -> String {
        let Self { model, name, .. } = self;
        let layout = Layout::of(model);
        // So that the weights lie at whole words.
        let ahead = layout.weights.wrapping_neg() % 4;
        let bytes: Vec<u8> =
            std::iter::repeat_n(0, ahead).chain(model.blob().iter().copied()).collect();
        let mut text = format!(
            "/* The model {}. `koan export` made this file. */\n#include \"{name}.h\"\n\n{}\n\
             #if defined(__GNUC__)\n#define AT_WHOLE_WORDS __attribute__((aligned(4)))\n#else\n\
             #define AT_WHOLE_WORDS\n#endif\n\n\
             /* Behind {ahead} zeros, so that the weights lie at whole words. */\n\
             static const uint8_t bytes[] KOAN_FLASH AT_WHOLE_WORDS = {{\n",
            self.file,
            config::checks(model),
        );
        for line in bytes.chunks(ON_A_LINE) {
            let numbers: Vec<String> = line.iter().map(|byte| format!("{byte:#04x},")).collect();
            _ = writeln!(text, "    {}", numbers.join(" "));
        }
        let Layout { head, weights, sections, halves, words } = layout;
        let values = [
            format!("bytes + {ahead}"),
            model.blob().len().to_string(),
            head.to_string(),
            weights.to_string(),
            sections.to_string(),
            halves.to_string(),
            words.to_string(),
            model.work().to_string(),
            "0".to_owned(),
            model.inputs().to_string(),
            model.input_limit().to_string(),
            model.outputs().to_string(),
            model.blob()[koan::format::field::FLAGS].to_string(),
            model.bank_count().to_string(),
        ];
        _ = write!(
            text,
            "}};\n\n/* As koan_parse makes it. */\nconst koan_model {name} = {{\n    {}\n}};\n{}",
            values.join(",\n    "),
            self.fill()
        );
        text
    }

    /// What the model is.
    fn kind(&self) -> &'static str {
        match self.model.task() {
            Task::Regression if self.model.outputs() > 1 => "an embedding",
            Task::Regression => "a regression",
            Task::Classification if !self.model.has_probabilities() => "a detector of anomalies",
            Task::Classification => "a classification",
            _ => "a feature map",
        }
    }

    /// The windows that rows are, if they are such.
    pub(super) fn window(&self) -> Option<Window> {
        self.schema.and_then(|schema| schema.recordings.window)
    }

    /// The constants of classes, without the model's name, and the classes, if they have names.
    pub(super) fn class_constants(&self) -> Vec<(String, &str)> {
        let mut unique = Unique::default();
        let named = self.classes().into_iter().enumerate().map(|(class, its)| {
            let name = match constant(its) {
                name if name.is_empty() => class.to_string(),
                name => name,
            };
            (unique.of(format!("CLASS_{name}")), its)
        });
        named.collect()
    }

    /// The constants of the places of a row, or of a sample, without the model's name.
    pub(super) fn columns(&self) -> Vec<String> {
        let mut unique = Unique::default();
        let places = self.schema.map(row::places).unwrap_or_default();
        places.iter().map(|place| unique.of(column_constant(place))).collect()
    }

    /// Places of a row, or of a sample, for which something stands in where they are not known: the
    /// constants of both, without the model's name, and the number.
    pub(super) fn stand_ins(&self) -> Vec<(String, String, f32)> {
        let mut unique = Unique::default();
        let places = self.schema.map(row::places).unwrap_or_default();
        let mut found = Vec::new();
        for (place, column) in places.iter().zip(self.columns()) {
            let Some(value) = place.missing else { continue };
            let missing = unique.of(format!("MISSING_{}", constant(&place.spelled())));
            found.push((column, missing, value));
        }
        found
    }

    /// The function that puts stand-ins in the place of NaN, if there are any.
    fn fill(&self) -> String {
        let Self { name, upper, .. } = self;
        let stand_ins = self.stand_ins();
        if stand_ins.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "\n{FLOATS_ARE_BUILT}\n#include <string.h>\n\n\
             static void fill(float *number, float stand_in) {{\n    \
             uint32_t bits;\n    \
             /* No compiler takes this for what is never true, as it may `x != x`. */\n    \
             memcpy(&bits, number, sizeof bits);\n    \
             if ((bits & 0x7fffffffu) > 0x7f800000u) *number = stand_in;\n}}\n\n\
             void {name}_fill(float *row) {{\n"
        );
        let (indent, end) = match self.window() {
            None => ("    ", ""),
            Some(_) => {
                _ = writeln!(
                    text,
                    "    const float *end = row + {upper}_INPUTS;\n    \
                     for (; row < end; row += {upper}_CHANNELS) {{"
                );
                ("        ", "    }\n")
            }
        };
        for (column, missing, _) in stand_ins {
            _ = writeln!(text, "{indent}fill(row + {upper}_{column}, {upper}_{missing});");
        }
        text + end + "}\n#endif\n"
    }
}
