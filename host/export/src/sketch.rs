//! A sketch for Arduino with an exported model.

use koan::Task;
use koan_trainer::internal::row;

use crate::c::Program;
use crate::name::comment;
use crate::reach;

/// Columns, and classes, that a sketch names one by one, at most.
const NAMED: usize = 8;

const SETUP: &str = r#"#include "@NAME@.h"

@UPPER@_MEMORY(memory);

void setup() {
    Serial.begin(115200);
    // Where USB is a part of the chip this waits for the serial monitor, which need not be there.
    while (!Serial && millis() < 3000) {
    }
    koan_status status = koan_self_test(&@NAME@, &memory);
    // A model that fails is not to be used. The status is one of koan.h, which counts from 0.
    while (status != KOAN_OK) {
        Serial.print(F("self test failed: status "));
        Serial.println((int)status);
        delay(3000);
    }
    Serial.println(F("self test passed"));
}
"#;

const ROWS: &str = r#"// Predicts a row every second: put your readings into it.
@SETUP@
void loop() {
    delay(1000);
@ROW@@READINGS@@FILLED@@PREDICTED@}
"#;

const WINDOWS: &str = r#"// Predicts the last @UPPER@_SAMPLES samples of a sensor whenever @UPPER@_HOP more are there: put its
// readings into them.
@SETUP@
// Milliseconds from a sample to the next: put in those of the training data.
const unsigned long period = 10;

void loop() {
@ROW@    // Samples until a window ends, and when the last one was taken.
    static unsigned long left = @UPPER@_SAMPLES, last = millis();
    unsigned long late = millis() - last;
    if (late < period) return;
    last += period;
    // All samples that the model learned from came in time. Where a prediction takes longer than a
    // period, let them be taken meanwhile: by an interrupt, the sensor's queue (FIFO) or a second core.
    if (late >= 2 * period) {
        Serial.println(F("samples were missed: the next window begins anew"));
        left = @UPPER@_SAMPLES;
        last = millis();
    }
    // The oldest sample makes room for the new one.
    memmove(row, row + @UPPER@_CHANNELS, sizeof row - @UPPER@_CHANNELS * sizeof *row);
    @TYPE@ *sample = row + @UPPER@_INPUTS - @UPPER@_CHANNELS;
@READINGS@@FILLED@    if (--left > 0) return;
    left = @UPPER@_HOP;
@PREDICTED@}
"#;

const WHOLE_NUMBERS: &str = "    \
    // Whole numbers from -32768 to 32767, in the units of the data; @NAME@_@CALL@_f32 takes float:\n    \
    // larger ones and fractions.@ORDER@\n    \
    static int16_t row[@UPPER@_INPUTS];\n";

const FLOATS: &str = "    \
    // In the units of the data: @NAME@_@CALL@_i16 takes int16_t, which does not hold all of them.@ORDER@\n    \
    static float row[@UPPER@_INPUTS];\n";

const ORDER: &str = "\n    // The oldest sample comes first.";

/// Behind rows of float where readings may be missing.
const FILLED: &str = "    \
    // What stands in for readings that are not known, which are NaN.\n    \
    @NAME@_fill(row);\n";

/// Behind rows of int16_t.
const STAND_INS: &str = "    \
    // For a reading that is not known put in what stands in for it, rounded: @NAME@.h has them.\n";

const STATUS: &str = "    \
    if (status != KOAN_OK) {\n        \
    Serial.print(F(\"failed: status \"));\n        \
    Serial.println((int)status);\n        \
    return;\n    }\n";

impl Program<'_> {
    /// A sketch for Arduino that predicts a row, or a window of samples, again and again.
    pub fn sketch(&self) -> String {
        let (row, filled, suffix, kind) = match reach::wants_floats(self.model, self.schema) {
            false => (WHOLE_NUMBERS, STAND_INS, "i16", "int16_t"),
            true => (FLOATS, FILLED, "f32", "float"),
        };
        let filled = if self.stand_ins().is_empty() { "" } else { filled };
        let (text, order) = match self.window() {
            Some(_) => (WINDOWS, ORDER),
            None => (ROWS, ""),
        };
        let places = [
            ("@SETUP@", SETUP),
            ("@ROW@", row),
            ("@FILLED@", filled),
            ("@ORDER@", order),
            ("@TYPE@", kind),
        ];
        let text =
            places.iter().fold(text.to_owned(), |text, (place, its)| text.replace(place, its));
        // What has names of columns and classes comes last: they may be like places of the text.
        let text = self.named(&text);
        let (ahead, text) = text.split_once("@READINGS@").unwrap_or_default();
        let (between, behind) = text.split_once("@PREDICTED@").unwrap_or_default();
        [ahead, &self.readings(), between, &self.predicted(suffix), behind].concat()
    }

    /// Where readings go.
    fn readings(&self) -> String {
        let variable = if self.window().is_some() { "sample" } else { "row" };
        let places = self.schema.map(row::places).unwrap_or_default();
        let (constants, upper) = (self.columns(), &self.upper);
        if places.is_empty() || places.len() > NAMED {
            let length = if self.window().is_some() { "CHANNELS" } else { "INPUTS" };
            return format!("    {variable}[0] = 0; // and so on, {upper}_{length} numbers\n");
        }
        let line = |(place, constant): (&row::Place<'_>, &String)| {
            let told = comment(&place.to_string());
            format!("    {variable}[{upper}_{constant}] = 0; /* {told} */\n")
        };
        places.iter().zip(&constants).map(line).collect()
    }

    /// A prediction of rows of this type, and what comes of it.
    fn predicted(&self, suffix: &str) -> String {
        let classes = self.class_constants();
        let printed = match classes.is_empty() {
            true => "    Serial.println(class_);\n",
            false => {
                "    Serial.println((const __FlashStringHelper *)@NAME@_class_name(class_));\n"
            }
        };
        let list = |length: &str, number: &str| {
            format!(
                "    for (long i = 0; i < @UPPER@_{length}; i++) {{\n        \
                 if (i > 0) Serial.print(',');\n        \
                 Serial.print({number});\n    }}\n    \
                 Serial.println();\n"
            )
        };
        let mut switch = String::new();
        let text = match self.model.task() {
            Task::Classification => {
                let cases = if classes.len() > NAMED { Vec::new() } else { classes };
                let cases = cases
                    .iter()
                    .map(|(constant, class)| {
                        let (upper, told) = (&self.upper, comment(class));
                        format!(
                            "        case {upper}_{constant}: /* {told} */\n            break;\n"
                        )
                    })
                    .collect::<String>();
                if !cases.is_empty() {
                    switch = format!(
                        "    // What the device does then.\n    switch (class_) {{\n{cases}    }}\n"
                    );
                }
                format!(
                    "    uint8_t class_ = 0;\n    \
                     koan_status status = @NAME@_classify_@SUFFIX@(row, &class_, &memory);\n\
                     @STATUS@{printed}"
                )
            }
            Task::Regression => {
                "    static int32_t scores[@UPPER@_OUTPUTS];\n    \
                 koan_status status = @NAME@_scores_@SUFFIX@(row, scores, &memory);\n@STATUS@"
                    .to_owned()
                    + &list("OUTPUTS", "koan_value(&@NAME@, scores[i]), 4")
            }
            _ => {
                "    static int16_t features[@UPPER@_FEATURES];\n    \
                 koan_status status = @NAME@_features_@SUFFIX@(row, features, &memory);\n@STATUS@"
                    .to_owned()
                    + &list("FEATURES", "features[i]")
            }
        };
        self.named(&text.replace("@SUFFIX@", suffix).replace("@STATUS@", STATUS)) + &switch
    }
}
