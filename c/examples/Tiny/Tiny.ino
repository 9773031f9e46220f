// Predicts a row every second: put your readings into it.
#include "tiny.h"

TINY_MEMORY(memory);

void setup() {
    Serial.begin(115200);
    while (!Serial) {
    }
    Serial.println(koan_self_test(&tiny, &memory) == KOAN_OK ? F("self test passed")
                                                             : F("self test failed"));
}

void loop() {
    // In the units of the data: koan_classify_i16 takes int16_t, which does not hold all of them.
    static float row[TINY_INPUTS];
    uint8_t class_ = 0;
    koan_status status = koan_classify_f32(&tiny, row, &class_, &memory);
    if (status == KOAN_OK) Serial.println(class_);
    else Serial.println(F("failed"));
    delay(1000);
}
