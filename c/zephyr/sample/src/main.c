/* Tests itself and predicts a row; `koan export tiny.koan --c` made tiny.h and tiny.c. */
#include "tiny.h"

#include <zephyr/sys/printk.h>

TINY_MEMORY(memory);

int main(void)
{
    static const int16_t row[TINY_INPUTS] = {1, -1};
    uint8_t class_ = 0;
    koan_status status = koan_self_test(&tiny, &memory);
    printk("self test: %s\n", koan_status_text(status));
    status = koan_classify_i16(&tiny, row, &class_, &memory);
    printk("class %u: %s\n", class_, koan_status_text(status));
    return 0;
}
