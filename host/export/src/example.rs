//! `main.c`: a program that predicts standard input with an exported model.

use koan::Task;

use crate::c::Program;

/// What `main.c` is, with names for those of the model.
const MAIN: &str = r#"/* @WHAT@ */
#include "@NAME@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

@UPPER@_MEMORY(memory);

/* In the units of the data. Rows of int16_t, for @NAME@_@CALL@_i16, are whole numbers from
 * -32768 to 32767; float takes larger ones and fractions.@ORDER@ */
static float row[@UPPER@_INPUTS];
@LEFT@
/* No compiler takes this for what is never true, as it may `number != number`. */
static int is_nan(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

/* Reads the numbers of a line: 0, or -1 where the line has others, or which of them is NaN. */
static int read_line(const char *text, float *numbers) {
    int i;
    for (i = 0; i < @LENGTH@; i++) {
        char *end;
        if (i > 0 && *text == ',') text++;
        numbers[i] = strtof(text, &end);
        if (end == text || !strchr(", \t\r\n", *end)) return -1;
        /* Tables have no numbers to the base of 16. */
        if (strcspn(text, "xX") < (size_t)(end - text)) return -1;
        text = end + strspn(end, " \t\r\n");
    }
    if (*text != '\0') return -1;
@FILL@    /* A model takes NaN for the offset of its input map. */
    for (i = 0; i < @LENGTH@; i++)
        if (is_nan(numbers[i])) return i + 1;
    return 0;
}

int main(void) {
    static char line[64 + 32 * @LENGTH@];
    unsigned long number = 0;
    int problem;
    koan_status status = koan_self_test(&@NAME@, &memory);
    while (status == KOAN_OK && fgets(line, sizeof line, stdin)) {
@DECLARED@        number++;
        if (line[strspn(line, " \t\r\n")] == '\0') continue;
@SHIFTED@        /* A line without an end is longer than the buffer, if it is not the last one. */
        problem = strchr(line, '\n') || feof(stdin) ? read_line(line, @NUMBERS@) : -1;
        if (problem < 0)
            fprintf(stderr, "line %lu: not %d numbers, separated by commas or blanks\n", number,
                    @LENGTH@);
        if (problem > 0)
            fprintf(stderr, "line %lu: number %d is NaN, for which nothing stands in\n", number,
                    problem);
        if (problem != 0) return 1;
@ENDS@@PRINTED@    }
@SHORT@    if (status != KOAN_OK) fprintf(stderr, "%s\n", koan_status_text(status));
    if (fflush(stdout) != 0) {
        perror("standard output");
        return 1;
    }
    return status != KOAN_OK;
}
"#;

/// What differs where lines are rows, and where they are samples of windows.
const ROWS: [(&str, &str); 8] = [
    (
        "@WHAT@",
        "Predicts the rows of standard input: a line each, @UPPER@_INPUTS numbers, separated by\n \
         * commas or blanks.",
    ),
    ("@ORDER@", ""),
    ("@LEFT@", ""),
    ("@SHIFTED@", ""),
    ("@ENDS@", ""),
    ("@SHORT@", ""),
    ("@NUMBERS@", "row"),
    ("@LENGTH@", "@UPPER@_INPUTS"),
];

const WINDOWS: [(&str, &str); 8] = [
    (
        "@WHAT@",
        "Predicts the windows of a recording: standard input has a line for each sample in the order\n \
         * of time, @UPPER@_CHANNELS numbers, separated by commas or blanks. The first window is\n \
         * @UPPER@_SAMPLES samples, and another one ends @UPPER@_HOP samples after each.",
    ),
    ("@ORDER@", "\n * The last @UPPER@_SAMPLES samples, the oldest first."),
    (
        "@LEFT@",
        "\n/* Of the last line. */\nstatic float *const sample = row + @UPPER@_INPUTS - @UPPER@_CHANNELS;\n\n\
         /* Samples until a window ends, and how many have ended. */\n\
         static unsigned long left = @UPPER@_SAMPLES, windows = 0;\n",
    ),
    (
        "@SHIFTED@",
        "        /* The oldest sample makes room for this one. */\n        \
         memmove(row, row + @UPPER@_CHANNELS, (@UPPER@_INPUTS - @UPPER@_CHANNELS) * sizeof *row);\n",
    ),
    (
        "@ENDS@",
        "        if (--left > 0) continue;\n        \
         left = @UPPER@_HOP;\n        \
         windows++;\n",
    ),
    (
        "@SHORT@",
        "    if (status == KOAN_OK && number > 0 && windows == 0)\n        \
         fprintf(stderr, \"no window: fewer than %d samples\\n\", @UPPER@_SAMPLES);\n",
    ),
    ("@NUMBERS@", "sample"),
    ("@LENGTH@", "@UPPER@_CHANNELS"),
];

impl Program<'_> {
    /// The middle of the name of the function that rows go to.
    pub(super) fn call(&self) -> &'static str {
        match self.model.task() {
            Task::Classification => "classify",
            Task::Regression => "scores",
            _ => "features",
        }
    }

    /// The text with names of this model.
    pub(super) fn named(&self, text: &str) -> String {
        let text = text.replace("@NAME@", &self.name).replace("@UPPER@", &self.upper);
        text.replace("@CALL@", self.call())
    }

    /// A program that predicts rows, or windows of samples, of standard input.
    pub fn example(&self) -> String {
        let class = match self.classes()[..] {
            [] => "        printf(\"%u\\n\", (unsigned)class_);\n",
            _ => "        printf(\"%s\\n\", @NAME@_class_name(class_));\n",
        };
        let (declared, printed) = match self.model.task() {
            Task::Classification => (
                "        uint8_t class_ = 0;\n",
                "        status = @NAME@_classify_f32(row, &class_, &memory);\n        \
                 if (status != KOAN_OK) break;\n@CLASS@",
            ),
            Task::Regression => (
                "        int32_t scores[@UPPER@_OUTPUTS];\n        int i;\n",
                "        status = @NAME@_scores_f32(row, scores, &memory);\n        \
                 if (status != KOAN_OK) break;\n        \
                 for (i = 0; i < @UPPER@_OUTPUTS; i++)\n            \
                 printf(\"%s%.9g\", i > 0 ? \",\" : \"\", (double)koan_value(&@NAME@, scores[i]));\n        \
                 printf(\"\\n\");\n",
            ),
            // Features alone.
            _ => (
                "        static int16_t features[@UPPER@_FEATURES];\n        long i;\n",
                "        status = @NAME@_features_f32(row, features, &memory);\n        \
                 if (status != KOAN_OK) break;\n        \
                 for (i = 0; i < @UPPER@_FEATURES; i++)\n            \
                 printf(\"%s%d\", i > 0 ? \",\" : \"\", features[i]);\n        \
                 printf(\"\\n\");\n",
            ),
        };
        let fill = if self.stand_ins().is_empty() { "" } else { "    @NAME@_fill(numbers);\n" };
        let mut text = MAIN.to_owned();
        for (place, its) in if self.window().is_some() { WINDOWS } else { ROWS } {
            text = text.replace(place, its);
        }
        let places = [
            ("@DECLARED@", declared),
            ("@PRINTED@", printed),
            ("@CLASS@", class),
            ("@FILL@", fill),
        ];
        for (place, its) in places {
            text = text.replace(place, its);
        }
        self.named(&text)
    }
}
