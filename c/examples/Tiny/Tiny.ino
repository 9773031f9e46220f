// Predicts a row every second: put your readings into it.
#include "tiny.h"

TINY_MEMORY(memory);

void setup() {
    Serial.begin(115200);
    // Where USB is a part of the chip this waits for the serial monitor, which need not be there.
    while (!Serial && millis() < 3000) {
    }
    koan_status status = koan_self_test(&tiny, &memory);
    // A model that fails is not to be used. The status is one of koan.h, which counts from 0.
    while (status != KOAN_OK) {
        Serial.print(F("self test failed: status "));
        Serial.println((int)status);
        delay(3000);
    }
    Serial.println(F("self test passed"));
}

void loop() {
    delay(1000);
    // In the units of the data: tiny_classify_i16 takes int16_t, which does not hold all of them.
    static float row[TINY_INPUTS];
    row[0] = 0; // and so on, TINY_INPUTS numbers
    uint8_t class_ = 0;
    koan_status status = tiny_classify_f32(row, &class_, &memory);
    if (status != KOAN_OK) {
        Serial.print(F("failed: status "));
        Serial.println((int)status);
        return;
    }
    Serial.println((const __FlashStringHelper *)tiny_class_name(class_));
    // What the device does then.
    switch (class_) {
        case TINY_CLASS_LEFT: /* left */
            break;
        case TINY_CLASS_RIGHT: /* right */
            break;
    }
}
