// A QEMU TCG plugin that counts the instructions a guest executes between two
// marker instructions, exactly: the same figure on every run and every host.
// And how deep its stack goes.
//
// Arguments: start=HEX and stop=HEX, the opcodes of the markers, size=2|4,
// their bytes; profile=FILE for the executions of every address of the last
// interval, "address count" a line. For every interval it prints
// "instructions N" on stderr; a marker's own execution is not in N.
// With bottom=HEX and top=HEX, the addresses between which the stack grows down,
// it prints "stack N" at the end: the bytes from the lowest that was written up.
//
// Built with nothing but a C compiler: the few declarations of QEMU's plugin
// interface (version 1, QEMU 6.1 and later) that it needs are repeated here.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
typedef void (*tb_callback)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*insn_callback)(unsigned cpu, void *data);
typedef void (*memory_callback)(unsigned cpu, uint32_t access, uint64_t address, void *data);
typedef void (*end_callback)(qemu_plugin_id_t, void *data);
enum { INLINE_ADD_U64 = 0, NO_REGISTERS = 0, WRITES = 2 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, tb_callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int, void *, uint64_t);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, insn_callback, int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, memory_callback, int, int, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, end_callback, void *);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

// One counter for each address, in an open hash table; `before` is its value
// when the interval began.
enum { SLOTS = 1 << 16 };
static struct slot {
    uint64_t address, count, before;
    bool used;
} slots[SLOTS];

static uint64_t executed, at_start;
static uint32_t start_opcode, stop_opcode;
static size_t marker_size = 2;
static const char *profile;
static uint64_t bottom, top, lowest;

static struct slot *slot_of(uint64_t address)
{
    size_t i = (size_t)(address * 0x9e3779b97f4a7c15u >> 48) % SLOTS;
    for (size_t tried = 0; tried < SLOTS; tried++, i = (i + 1) % SLOTS) {
        if (!slots[i].used) {
            slots[i].used = true;
            slots[i].address = address;
        }
        if (slots[i].address == address) {
            return &slots[i];
        }
    }
    fprintf(stderr, "count: more than %d addresses\n", SLOTS);
    exit(1);
}

static void on_start(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    at_start = executed;
    for (size_t i = 0; profile && i < SLOTS; i++) {
        slots[i].before = slots[i].count;
    }
}

static void on_stop(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    fprintf(stderr, "instructions %llu\n", (unsigned long long)(executed - at_start));
    if (!profile) {
        return;
    }
    FILE *file = fopen(profile, "w");
    if (!file) {
        perror(profile);
        exit(1);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].count > slots[i].before) {
            fprintf(file, "%llx %llu\n", (unsigned long long)slots[i].address,
                    (unsigned long long)(slots[i].count - slots[i].before));
        }
    }
    fclose(file);
}

static void on_write(unsigned cpu, uint32_t access, uint64_t address, void *data)
{
    (void)cpu, (void)access, (void)data;
    if (address >= bottom && address < lowest) {
        lowest = address;
    }
}

static void on_end(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    fprintf(stderr, "stack %llu\n", (unsigned long long)(top - lowest));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    size_t length = qemu_plugin_tb_n_insns(block);
    for (size_t i = 0; i < length; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        if (top) {
            qemu_plugin_register_vcpu_mem_cb(insn, on_write, NO_REGISTERS, WRITES, NULL);
        }
        if (qemu_plugin_insn_size(insn) == marker_size) {
            uint32_t opcode = 0;
            memcpy(&opcode, qemu_plugin_insn_data(insn), marker_size);
            insn_callback callback = opcode == start_opcode ? on_start
                                     : opcode == stop_opcode ? on_stop : NULL;
            if (callback) {
                // A marker is not counted: the callback sees what came before it.
                qemu_plugin_register_vcpu_insn_exec_cb(insn, callback, NO_REGISTERS, NULL);
                continue;
            }
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &executed, 1);
        if (profile) {
            uint64_t *count = &slot_of(qemu_plugin_insn_vaddr(insn))->count;
            qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, count, 1);
        }
    }
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count, char **arguments)
{
    (void)info;
    for (int i = 0; i < count; i++) {
        char *value = strchr(arguments[i], '=');
        size_t name = value ? (size_t)(value - arguments[i]) : 0;
        value = value ? value + 1 : "";
        if (name && !strncmp(arguments[i], "start", name)) {
            start_opcode = (uint32_t)strtoul(value, NULL, 16);
        } else if (name && !strncmp(arguments[i], "stop", name)) {
            stop_opcode = (uint32_t)strtoul(value, NULL, 16);
        } else if (name && !strncmp(arguments[i], "size", name)) {
            marker_size = strtoul(value, NULL, 10);
        } else if (name && !strncmp(arguments[i], "profile", name)) {
            profile = strdup(value);
        } else if (name && !strncmp(arguments[i], "bottom", name)) {
            bottom = strtoull(value, NULL, 16);
        } else if (name && !strncmp(arguments[i], "top", name)) {
            top = lowest = strtoull(value, NULL, 16);
        } else {
            fprintf(stderr, "count: unknown argument %s\n", arguments[i]);
            return 1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    if (top) {
        qemu_plugin_register_atexit_cb(id, on_end, NULL);
    }
    return 0;
}
