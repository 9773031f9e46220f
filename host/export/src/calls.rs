//! Functions of a model's header: calls that know the lengths of its arrays, and names of classes.

use std::fmt::Write;

use koan::Task;

use crate::c::{FLOATS_ARE_BUILT, Program};

/// Types of rows, with what a call has for them behind its name.
const ROWS: [(&str, &str); 3] = [("int16_t", "i16"), ("uint8_t", "u8"), ("float", "f32")];

/// What [`Program::calls`] begins with.
const ARRAYS: &str = "\
/* Calls that take arrays of the model's lengths: in C++ other lengths do not compile, in C gcc and
 * clang warn of shorter ones. */
#if defined(__cplusplus)
#define @UPPER@_ARRAY(type, name, length) type (&name)[length]
#elif defined(__GNUC__)
#define @UPPER@_ARRAY(type, name, length) type name[static length]
#else
#define @UPPER@_ARRAY(type, name, length) type name[length]
#endif
";

const PROBABILITIES: &str = "
#if !defined(KOAN_NO_PROBABILITIES) || KOAN_IS_0(KOAN_NO_PROBABILITIES)
/* One for each class, also where two classes have one score. */
static inline koan_status @NAME@_probabilities(
    @UPPER@_ARRAY(const int32_t, scores, @UPPER@_OUTPUTS),
    @UPPER@_ARRAY(float, probabilities, @UPPER@_CLASSES)) {
    return koan_probabilities(&@NAME@, scores, probabilities);
}
#endif
";

impl Program<'_> {
    /// The functions, as text of the header.
    pub(super) fn calls(&self) -> String {
        let kinds: &[(&str, &str, &str)] = match self.model.task() {
            Task::Classification => &[
                ("classify", "uint8_t *class_", "class_"),
                ("scores", "@UPPER@_ARRAY(int32_t, scores, @UPPER@_OUTPUTS)", "scores"),
            ],
            Task::Regression => {
                &[("scores", "@UPPER@_ARRAY(int32_t, scores, @UPPER@_OUTPUTS)", "scores")]
            }
            _ => &[("features", "@UPPER@_ARRAY(int16_t, features, @UPPER@_FEATURES)", "features")],
        };
        let mut text = ARRAYS.to_owned();
        for (row, suffix) in ROWS {
            let only_floats = suffix == "f32";
            if only_floats {
                _ = writeln!(text, "\n{FLOATS_ARE_BUILT}");
            }
            for (number, (call, parameter, argument)) in kinds.iter().enumerate() {
                // Within the condition no empty line comes first.
                let ahead = if only_floats && number == 0 { "" } else { "\n" };
                _ = write!(
                    text,
                    "{ahead}static inline koan_status @NAME@_{call}_{suffix}(\n    \
                     @UPPER@_ARRAY(const {row}, row, @UPPER@_INPUTS),\n    {parameter},\n    \
                     const koan_memory *memory) {{\n    \
                     return koan_{call}_{suffix}(&@NAME@, row, {argument}, memory);\n}}\n"
                );
            }
            if only_floats {
                text += "#endif\n";
            }
        }
        if self.model.has_probabilities() {
            text += PROBABILITIES;
        }
        self.named(&text) + &self.class_names()
    }

    /// Names of all classes, or none.
    pub(super) fn classes(&self) -> Vec<&str> {
        let classes = 0..self.model.classes();
        classes.map(|class| self.model.class_name(class)).collect::<Option<_>>().unwrap_or_default()
    }

    /// The function that gives names of classes, if they have such.
    fn class_names(&self) -> String {
        let classes = self.classes();
        let Some(longest) = classes.iter().map(|class| class.len()).max() else {
            return String::new();
        };
        let length = longest + 1;
        let names: String =
            classes.iter().map(|class| format!("        {},\n", quoted(class))).collect();
        // Of a class in a byte compilers know that it is below 256.
        let known = match classes.len() {
            256.. => "names[class_]",
            _ => "class_ < @UPPER@_CLASSES ? names[class_] : NULL",
        };
        let text = format!(
            "\n/* The name of a class, which ends with a zero; null where there is no such class. On AVR it\n \
             * lies in program memory: Serial.print((const __FlashStringHelper *)@NAME@_class_name(class_)).\n \
             * Programs that do not call it do not have the names. */\n\
             static inline const char *@NAME@_class_name(uint8_t class_) {{\n    \
             static const char names[@UPPER@_CLASSES][{length}] KOAN_FLASH = {{\n@NAMES@    }};\n    \
             return {known};\n}}\n"
        );
        // They come last: names may be like those of places of the text.
        self.named(&text).replace("@NAMES@", &names)
    }
}

/// A text as a string of C, of ASCII.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for byte in text.bytes() {
        match byte {
            // Trigraphs begin with question marks.
            b'"' | b'\\' | b'?' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => _ = write!(quoted, "\\{byte:03o}"),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_strings_of_c() {
        assert_eq!(quoted("a \"b\" \\ ??/"), r#""a \"b\" \\ \?\?/""#);
        assert_eq!(quoted("é1\n"), r#""\303\2511\012""#);
    }
}
