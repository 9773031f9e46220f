//! Programs with an exported model: one for standard input and a sketch for Arduino.

use koan::Task;

use super::c::Program;
use super::reach;

/// What `main.c` is, with names for those of the model.
const MAIN: &str = r#"/* Predicts the rows of standard input: a line each, @UPPER@_INPUTS numbers, separated by
 * commas or blanks. */
#include "@NAME@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

@UPPER@_MEMORY(memory);

/* In the units of the data. Rows of int16_t, for koan_@CALL@_i16, are whole numbers from
 * -32768 to 32767; float takes larger ones and fractions. */
static float row[@UPPER@_INPUTS];

/* Reads a row: 0, or -1 where the line is none, or which of its numbers is NaN. */
static int read_row(const char *text) {
    int i;
    for (i = 0; i < @UPPER@_INPUTS; i++) {
        char *end;
        if (i > 0 && *text == ',') text++;
        row[i] = strtof(text, &end);
        if (end == text || !strchr(", \t\r\n", *end)) return -1;
        text = end + strspn(end, " \t\r\n");
    }
    if (*text != '\0') return -1;
@FILL@    /* A model takes NaN for the middle of the column. */
    for (i = 0; i < @UPPER@_INPUTS; i++)
        if (row[i] != row[i]) return i + 1;
    return 0;
}

int main(void) {
    static char line[64 + 32 * @UPPER@_INPUTS];
    unsigned long number = 0;
    int problem;
    koan_status status = koan_self_test(&@NAME@, &memory);
    while (status == KOAN_OK && fgets(line, sizeof line, stdin)) {
@DECLARED@        number++;
        if (line[strspn(line, " \t\r\n")] == '\0') continue;
        /* A line without an end is longer than the buffer, if it is not the last one. */
        problem = strchr(line, '\n') || feof(stdin) ? read_row(line) : -1;
        if (problem < 0)
            fprintf(stderr, "line %lu: not %d numbers, separated by commas or blanks\n", number,
                    @UPPER@_INPUTS);
        if (problem > 0)
            fprintf(stderr, "line %lu: number %d is NaN, for which nothing stands in\n", number,
                    problem);
        if (problem != 0) return 1;
@PRINTED@    }
    if (status != KOAN_OK) fprintf(stderr, "%s\n", koan_status_text(status));
    if (fflush(stdout) != 0) {
        perror("standard output");
        return 1;
    }
    return status != KOAN_OK;
}
"#;

const SKETCH: &str = r#"// Predicts a row every second: put your readings into it.
#include "@NAME@.h"

@UPPER@_MEMORY(memory);

void setup() {
    Serial.begin(115200);
    while (!Serial) {
    }
    Serial.println(koan_self_test(&@NAME@, &memory) == KOAN_OK ? F("self test passed")
                                                             : F("self test failed"));
}

void loop() {
@ROW@@PREDICTED@    else Serial.println(F("failed"));
    delay(1000);
}
"#;

const WHOLE_NUMBERS: &str = "    \
    // Whole numbers from -32768 to 32767, in the units of the data; koan_@CALL@_f32 takes float:\n    \
    // larger ones and fractions.\n    \
    static int16_t row[@UPPER@_INPUTS];\n";

const FLOATS: &str = "    \
    // In the units of the data: koan_@CALL@_i16 takes int16_t, which does not hold all of them.\n    \
    static float row[@UPPER@_INPUTS];\n";

/// Behind rows of float where readings may be missing.
const FILLED: &str = "    \
    // What stands in for readings that are not known, which are NaN.\n    \
    @NAME@_fill(row);\n";

/// Behind rows of int16_t.
const STAND_INS: &str = "    \
    // For a reading that is not known put in what stands in for it, rounded: @NAME@.h has them.\n";

impl Program<'_> {
    /// The middle of the name of the function that rows go to.
    pub(super) fn call(&self) -> &'static str {
        match self.model.task() {
            Task::Classification => "classify",
            Task::Regression => "scores",
            _ => "features",
        }
    }

    fn named(&self, text: &str) -> String {
        let text = text.replace("@NAME@", &self.name).replace("@UPPER@", &self.upper);
        text.replace("@CALL@", self.call())
    }

    /// A program that predicts rows of standard input.
    pub fn example(&self) -> String {
        let (declared, printed) = match self.model.task() {
            Task::Classification => (
                "        uint8_t class_ = 0;\n        uint16_t length;\n        const uint8_t *its;\n",
                "        status = koan_classify_f32(&@NAME@, row, &class_, &memory);\n        \
                 if (status != KOAN_OK) break;\n        \
                 its = koan_class_name(&@NAME@, class_, &length);\n        \
                 if (its) printf(\"%.*s\\n\", (int)length, (const char *)its);\n        \
                 else printf(\"%u\\n\", (unsigned)class_);\n",
            ),
            Task::Regression => (
                "        int32_t scores[@UPPER@_OUTPUTS];\n        int i;\n",
                "        status = koan_scores_f32(&@NAME@, row, scores, &memory);\n        \
                 if (status != KOAN_OK) break;\n        \
                 for (i = 0; i < @UPPER@_OUTPUTS; i++)\n            \
                 printf(\"%s%.9g\", i > 0 ? \",\" : \"\", (double)koan_value(&@NAME@, scores[i]));\n        \
                 printf(\"\\n\");\n",
            ),
            // Features alone.
            _ => (
                "        static int16_t features[@UPPER@_FEATURES];\n        long i;\n",
                "        status = koan_features_f32(&@NAME@, row, features, &memory);\n        \
                 if (status != KOAN_OK) break;\n        \
                 for (i = 0; i < @UPPER@_FEATURES; i++)\n            \
                 printf(\"%s%d\", i > 0 ? \",\" : \"\", features[i]);\n        \
                 printf(\"\\n\");\n",
            ),
        };
        let fill = if self.stand_ins().is_empty() { "" } else { "    @NAME@_fill(row);\n" };
        let text = MAIN.replace("@DECLARED@", declared).replace("@PRINTED@", printed);
        self.named(&text.replace("@FILL@", fill))
    }

    /// A sketch for Arduino that predicts the same row again and again.
    pub fn sketch(&self) -> String {
        let has_stand_ins = !self.stand_ins().is_empty();
        let (row, filled, kind) = match reach::wants_floats(self.model, self.schema) {
            false => (WHOLE_NUMBERS, STAND_INS, "i16"),
            true => (FLOATS, FILLED, "f32"),
        };
        let row = format!("{row}{}", if has_stand_ins { filled } else { "" });
        let predicted = match self.model.task() {
            Task::Classification => {
                "    uint8_t class_ = 0;\n    \
                 koan_status status = koan_classify_@KIND@(&@NAME@, row, &class_, &memory);\n    \
                 if (status == KOAN_OK) Serial.println(class_);\n"
            }
            Task::Regression => {
                "    static int32_t scores[@UPPER@_OUTPUTS];\n    \
                 koan_status status = koan_scores_@KIND@(&@NAME@, row, scores, &memory);\n    \
                 if (status == KOAN_OK) Serial.println(koan_value(&@NAME@, scores[0]));\n"
            }
            _ => {
                "    static int16_t features[@UPPER@_FEATURES];\n    \
                 koan_status status = koan_features_@KIND@(&@NAME@, row, features, &memory);\n    \
                 if (status == KOAN_OK) Serial.println(features[0]);\n"
            }
        };
        let text = SKETCH.replace("@ROW@", &row).replace("@PREDICTED@", predicted);
        self.named(&text.replace("@KIND@", kind))
    }
}
