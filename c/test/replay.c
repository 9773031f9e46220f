/*
 * Replays vectors, which `cargo run -p koan-tests --bin vectors FOLDER` writes, through the
 * runtime in C: replay FILE... Prints what was equal, and ends with 1 at a difference.
 *
 * A file is entries, one after the other, in little-endian numbers:
 *   u8 kind, u8 length and name, u32 length and blob, then by kind
 *   1  u16 rows, each: u8 types (1: also as i16, 2: also as u8), u8 class (255: none),
 *      f32 row, i32 scores, f32 values, f32 probabilities of classes (-1 for none)
 *   2  u16 rows, each: u32 features, u32 codes, f32 row, i16 features, u16 codes
 *   3  u8 status, u8 whether there is a digest, u32 where, u32 digest
 *
 * On AVR the vectors lie in program memory, where the linker puts them, and the blobs stay there.
 */
#include "../koan.h"

#include <stdio.h>
#include <string.h>

#if !defined(MOST_BYTES)
/* Room for blobs, rows, features and memory; models that do not fit are passed over. */
#define MOST_BYTES 70000
#define MOST_INPUTS 1024
#define MOST_FEATURES 65536
#define MOST_WORDS 70000
#define MOST_OUTPUTS 255
#endif

static koan_model model;
static char name[256];
static float row[MOST_INPUTS];
static int16_t words_of_row[MOST_INPUTS];
static uint8_t bytes_of_row[MOST_INPUTS];
static int16_t features[MOST_FEATURES];
static uint16_t codes[MOST_FEATURES];
static int32_t scores[MOST_OUTPUTS];
static float probabilities[MOST_OUTPUTS + 1];
static int16_t halves[MOST_WORDS];
static uint32_t words[MOST_WORDS];
static int64_t sums[MOST_OUTPUTS];
static const koan_memory memory = {halves, words, sums, MOST_WORDS, MOST_WORDS, MOST_OUTPUTS};
static unsigned long models, values, refused, passed_over, differences;

#if defined(__AVR__)
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

extern const uint8_t vectors[] PROGMEM, vectors_end[] PROGMEM;
static const uint8_t *next_vector = vectors;

/* The next byte; EOF at the end. */
static int next(void) { return next_vector < vectors_end ? pgm_read_byte(next_vector++) : EOF; }

static const uint8_t *next_blob(uint32_t size) {
    const uint8_t *blob = next_vector;
    next_vector += (size_t)size;
    return blob;
}

static int put_character(char character, FILE *to) {
    (void)to;
    while (!(UCSR0A & (1 << UDRE0))) {}
    UDR0 = (uint8_t)character;
    return 0;
}

static FILE port = FDEV_SETUP_STREAM(put_character, NULL, _FDEV_SETUP_WRITE);
#else
static FILE *file;
static uint8_t room[MOST_BYTES];

/* The next byte; EOF at the end. */
static int next(void) { return getc(file); }

/* The next blob, at the very end of the room: behind it a sanitizer sees reads. Null if there is
 * none of that size. */
static const uint8_t *next_blob(uint32_t size) {
    uint8_t *blob = room + sizeof room - size;
    return size <= MOST_BYTES && fread(blob, 1, (size_t)size, file) == size ? blob : NULL;
}
#endif

static uint32_t number(unsigned bytes) {
    uint32_t value = 0;
    unsigned i;
    for (i = 0; i < bytes; i++) value |= (uint32_t)(next() & 255) << (8 * i);
    return value;
}

static void differ(const char *what, unsigned long at, long expected, long actual) {
    printf("%s, %s %lu: expected %ld, actual %ld\n", name, what, at, expected, actual);
    differences++;
}

static void compare(const char *what, unsigned long at, long expected, long actual) {
    values++;
    if (expected != actual) differ(what, at, expected, actual);
}

static void read_row(void) {
    unsigned i;
    for (i = 0; i < model.inputs; i++) {
        uint32_t bits = number(4);
        memcpy(&row[i], &bits, sizeof bits);
    }
}

static void check_status(const char *call, koan_status status) {
    if (status != KOAN_OK) {
        printf("%s, %s: %s\n", name, call, koan_status_text(status));
        differences++;
    }
}

static float real(void) {
    uint32_t bits = number(4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The last digits of floats are not the same everywhere. */
static void compare_real(const char *what, unsigned long at, float expected, float actual) {
    float difference = expected < actual ? actual - expected : expected - actual;
    float size = expected < 0 ? -expected : expected;
    values++;
    if (!(difference <= 1e-5f * size + 1e-6f))
        differ(what, at, (long)(expected * 1e6f), (long)(actual * 1e6f));
}

/* Values and probabilities of the scores that are there. */
static void replay_real(unsigned long r, int classes) {
    uint16_t i, count = koan_class_count(&model);
    koan_status status;
    for (i = 0; i < model.outputs; i++)
        compare_real("value", r, real(), koan_value(&model, scores[i]));
    if (!classes) return;
    status = koan_probabilities(&model, scores, probabilities);
    for (i = 0; i < count; i++) {
        float expected = real();
        /* A detector of anomalies has none. */
        compare("status of probabilities", r, expected < 0 ? KOAN_UNSUITED : KOAN_OK, status);
        if (expected >= 0) compare_real("probability", r, expected, probabilities[i]);
    }
}

static void replay_scores(void) {
    static int32_t expected[MOST_OUTPUTS];
    uint32_t rows = number(2), r, i, type;
    for (r = 0; r < rows; r++) {
        uint8_t types = (uint8_t)number(1), class_ = (uint8_t)number(1);
        uint8_t actual = 0;
        read_row();
        for (i = 0; i < model.outputs; i++) expected[i] = (int32_t)number(4);
        for (i = 0; i < model.inputs; i++) {
            words_of_row[i] = (int16_t)(types & 1 ? row[i] : 0);
            bytes_of_row[i] = (uint8_t)(types & 2 ? row[i] : 0);
        }
        for (type = 0; type < 3; type++) {
            koan_status status = KOAN_OK;
            if (type > 0 && !(types >> (type - 1) & 1)) continue;
            status = type == 0   ? koan_scores_f32(&model, row, scores, &memory)
                     : type == 1 ? koan_scores_i16(&model, words_of_row, scores, &memory)
                                 : koan_scores_u8(&model, bytes_of_row, scores, &memory);
            check_status("scores", status);
            for (i = 0; i < model.outputs; i++)
                compare("score", r, (long)expected[i], (long)scores[i]);
            status = type == 0   ? koan_classify_f32(&model, row, &actual, &memory)
                     : type == 1 ? koan_classify_i16(&model, words_of_row, &actual, &memory)
                                 : koan_classify_u8(&model, bytes_of_row, &actual, &memory);
            if (class_ == 255) {
                compare("classify of no classification", r, KOAN_UNSUITED, (long)status);
            } else {
                check_status("classify", status);
                compare("class", r, (long)class_, (long)actual);
            }
        }
        replay_real(r, class_ != 255);
    }
}

static void replay_features(void) {
    uint32_t rows = number(2), r;
    uint32_t i;
    for (r = 0; r < rows; r++) {
        uint32_t count = number(4), code_count = number(4);
        compare("features", r, (long)count, (long)koan_feature_count(&model));
        compare("codes", r, (long)code_count, (long)koan_code_count(&model));
        read_row();
        check_status("features", koan_features_f32(&model, row, features, &memory));
        check_status("codes", koan_codes_f32(&model, row, codes, &memory));
        for (i = 0; i < count; i++)
            compare("feature", i, (long)(int16_t)number(2), (long)features[i]);
        for (i = 0; i < code_count; i++) compare("code", i, (long)number(2), (long)codes[i]);
    }
}

static void replay_verdict(koan_status status) {
    uint32_t expected = number(1), digested = number(1);
    uint32_t at = number(4), digest = number(4), actual = 0;
    snprintf(name, sizeof name, "mutant %lu", models);
    compare("status", 0, (long)expected, (long)status);
    if (status != KOAN_OK) {
        compare("refused at", 0, (long)at, (long)model.refused_at);
        refused++;
    } else if (digested) {
        check_status("digest", koan_digest(&model, &actual, &memory));
        compare("digest", 0, (long)digest, (long)actual);
    }
}

static void pass_over(uint32_t bytes) {
    while (bytes-- > 0) (void)next();
}

/* Whether there is room for the model and what it computes. */
static int fits(void) {
    return model.inputs <= MOST_INPUTS && model.outputs <= memory.sums_length &&
           model.halves <= MOST_WORDS && model.words <= MOST_WORDS &&
           koan_feature_count(&model) <= MOST_FEATURES;
}

/* Reads an entry and compares; 0 at the end. */
static int replay(void) {
    int kind = next();
    unsigned i, length;
    uint32_t size;
    const uint8_t *blob;
    koan_status status;
    if (kind == EOF) return 0;
    length = (unsigned)number(1);
    for (i = 0; i < length; i++) name[i] = (char)next();
    name[length] = 0;
    size = number(4);
    blob = next_blob(size);
    if (!blob) {
        printf("%s: no room for its %lu bytes, or the file ends too early\n", name,
               (unsigned long)size);
        differences++;
        return 0;
    }
    status = koan_parse(&model, blob, (size_t)size);
    if (kind == 3) {
        models++;
        replay_verdict(status);
        return 1;
    }
    check_status("parse", status);
    if (!fits()) {
        uint32_t rows = number(2), row_bytes = 2 + 4 * (uint32_t)model.inputs;
        row_bytes += 8 * (uint32_t)model.outputs + 4 * (uint32_t)koan_class_count(&model);
        if (kind == 2) {
            row_bytes = 8 + 4 * (uint32_t)model.inputs + 2 * koan_feature_count(&model) +
                        2 * koan_code_count(&model);
        }
        pass_over(rows * row_bytes);
        passed_over++;
        return 1;
    }
    models++;
    check_status("self test", koan_self_test(&model, &memory));
    if (kind == 1) replay_scores();
    else replay_features();
    return 1;
}

static int result(void) {
    printf("%lu models, %lu refused, %lu passed over, %lu values equal, %lu differences\n", models,
           refused, passed_over, values - differences, differences);
    return differences > 0 || values == 0;
}

#if defined(__AVR__)
int main(void) {
    stdout = &port;
    UCSR0B = 1 << TXEN0;
    while (differences < 20 && replay()) {}
    (void)result();
    /* Asleep without interrupts: the simulator ends. */
    cli();
    sleep_enable();
    sleep_cpu();
    return 0;
}
#else
int main(int argc, char **argv) {
    int i;
    for (i = 1; i < argc; i++) {
        file = fopen(argv[i], "rb");
        if (!file) {
            printf("cannot open %s\n", argv[i]);
            return 1;
        }
        while (differences < 20 && replay()) {}
        fclose(file);
    }
    return result();
}
#endif
