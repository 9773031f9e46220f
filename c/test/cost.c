/*
 * What a prediction costs: the model m of `koan export`, for a row of zeros.
 *
 * On a Cortex-M the emulator's plugin counts the instructions between two that do nothing; on AVR
 * a timer counts cycles, which are printed. With EMPTY the program does all but predict: what is
 * larger without it is the runtime's. With SELF_TEST it runs the self test as well.
 */
#include "m.h"

#include <stdio.h>

#if defined(__AVR__)
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

static volatile uint16_t overflows;

ISR(TIMER1_OVF_vect) { overflows++; }

static int put_character(char character, FILE *to) {
    (void)to;
    while (!(UCSR0A & (1 << UDRE0))) {}
    UDR0 = (uint8_t)character;
    return 0;
}

static FILE port = FDEV_SETUP_STREAM(put_character, NULL, _FDEV_SETUP_WRITE);

static void start(void) {
    stdout = &port;
    UCSR0B = 1 << TXEN0;
    TIMSK1 = 1 << TOIE1;
    TCCR1A = 0;
    sei();
    TCNT1 = 0;
    TCCR1B = 1 << CS10;
}

static void stop(void) {
    uint16_t rest;
    rest = TCNT1;
    TCCR1B = 0;
    printf("%lu cycles\n", (unsigned long)overflows << 16 | rest);
    cli();
    sleep_enable();
    sleep_cpu();
}
#else
#define start() __asm__ volatile("mov r11, r11" ::: "memory")
#define stop() __asm__ volatile("mov r12, r12" ::: "memory")
#endif

M_MEMORY(memory);
static int16_t row[M_INPUTS];
static int32_t scores[M_OUTPUTS];

/* Apart, so that nothing of it moves across the markers. */
static __attribute__((noinline)) koan_status predict(void) {
#if defined(EMPTY)
    scores[0] = row[0] + memory_halves[0] + (int32_t)memory_words[0] + (int32_t)memory_sums[0];
    return m.blob[scores[0] & 7] ? KOAN_OK : KOAN_UNSUITED;
#elif M_CLASSES > 0
    uint8_t class_ = 0;
    koan_status status = koan_classify_i16(&m, row, &class_, &memory);
    scores[0] = class_;
    return status;
#else
    return koan_scores_i16(&m, row, scores, &memory);
#endif
}

int main(void) {
    koan_status status;
    start();
    status = predict();
    stop();
#if defined(SELF_TEST)
    if (status == KOAN_OK) status = koan_self_test(&m, &memory);
#endif
    return status != KOAN_OK;
}
