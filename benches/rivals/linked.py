"""C programs: their results beside Python's, their bytes and instructions on a Cortex-M0."""

import ctypes
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import emlearn
import numpy as np

HERE = Path(__file__).resolve().parent
PLUGIN = HERE.parent.parent / "firmware-example" / "plugin" / "count.c"
ARM = ["arm-none-eabi-gcc", "-std=c99", "-Os", "-mcpu=cortex-m0", "-mthumb", "-ffunction-sections", "-fdata-sections"]
ARM += ["-Wl,--gc-sections", "--specs=nano.specs", "--specs=nosys.specs"]

# A machine that does nothing but predict a row, between two marks that the plugin of the
# project's own firmware counts from and to.
START = """
int main(void);
extern char stack_top[], bss_start[], bss_end[], data_start[], data_end[], data_load[];
void reset(void)
{
    for (char *to = data_start, *from = data_load; to < data_end; ) *to++ = *from++;
    for (char *to = bss_start; to < bss_end; ) *to++ = 0;
    main();
    register int operation __asm__("r0") = 0x18;
    register int reason __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason));
}
__attribute__((section(".vectors"), used)) void *const vectors[] = {stack_top, (void *)reset};
"""
SCRIPT = """
MEMORY { FLASH : ORIGIN = 0, LENGTH = 256K RAM : ORIGIN = 0x20000000, LENGTH = 16K }
ENTRY(reset)
stack_top = 0x20004000;
SECTIONS {
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
    .ARM.exidx : { *(.ARM.exidx*) } > FLASH
    data_load = LOADADDR(.data);
    .data : { data_start = .; *(.data*) . = ALIGN(4); data_end = .; } > RAM AT > FLASH
    .bss : { bss_start = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; } > RAM
}
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def array(kind, name, values):
    return f"{kind} {name}[] = {{{', '.join(map(str, values))}}};\n"


class Program:
    """A C source that has `int32_t predict(model, row)`, and the bytes of a model; or what
    emlearn writes, which has the model in it."""

    def __init__(self, source, blob, model_bytes=None):
        self.source, self.blob = source, blob
        self.model_bytes = len(blob) if model_bytes is None else model_bytes

    @staticmethod
    def of(name, blob):
        return Program((HERE / name).read_text(), blob)

    @staticmethod
    def of_forest(model, packed, method="loadable"):
        """What emlearn writes of a forest; where that is "inline", all of it is code."""
        leaf = {} if packed.bits == 32 else {"leaf_bits": packed.bits}
        converted = emlearn.convert(model, method=method, dtype="int16_t", **leaf)
        source = converted.save(name="model", include_proba=False)
        # In units of 2^-16 for the comparison of regressions; not in what is measured.
        call = f"model_predict(row, {model.n_features_in_})"
        kind, result = ("float", f"{call} * 65536") if packed.bits == 32 else ("int32_t", call)
        source += f"\n{kind} predict_any(const uint8_t *unused, const int16_t *row) {{ return {call}; }}\n"
        source += f"#ifdef NATIVE\nint32_t predict(const uint8_t *unused, const int16_t *row) {{ return {result}; }}\n"
        source += "#else\n#define predict predict_any\n#endif\n"
        return Program(source, None, len(packed) if method == "loadable" else 0)

    def native(self, rows):
        """What C computes on this machine."""
        predict = library(self.source).predict
        blob = self.blob and (ctypes.c_uint8 * len(self.blob))(*self.blob)
        return np.array([predict(blob, (ctypes.c_int16 * len(row))(*row.tolist())) for row in rows])

    def check(self, rows, expected, close=0):
        """Fails unless C gives what Python gave."""
        found = self.native(rows)
        if np.abs(found - expected).max() > close:
            sys.exit(f"C and Python differ:\n{found}\n{expected}")

    def main(self, row):
        text = array("volatile int16_t", "inputs", row) + "volatile int32_t result;\n"
        if self.blob:
            text += array("static const uint8_t", "model", self.blob)
        marks = ('__asm__ volatile("mov r11, r11" ::: "memory");', '__asm__ volatile("mov r12, r12" ::: "memory");')
        copy = f"int16_t row[{len(row)}]; for (int i = 0; i < {len(row)}; i++) row[i] = inputs[i];"
        call = f"result = predict({'model' if self.blob else '0'}, row);"
        return f"{text}int main(void) {{ {copy} {marks[0]} {call} {marks[1]} return result; }}\n"

    def code(self, row):
        """Bytes of code and constants without the model, less those of an empty program."""
        return linked(self.source + self.main(row)) - empty(len(row)) - self.model_bytes

    def instructions(self, row):
        """Executed for one row, on an emulated Cortex-M0."""
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "all.c").write_text(self.source + self.main(row) + START)
            (folder / "link.ld").write_text(SCRIPT)
            script = ["-nostartfiles", "-T", folder / "link.ld", "-I", emlearn.includedir]
            run([*ARM, *script, folder / "all.c", "-lm", "-o", folder / "all.elf"])
            return counted(folder / "all.elf")


def counted(program, pack=b"", address=0):
    """Instructions between the marks of a program, with `pack` in the machine's memory."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(pack)
        file.flush()
        machine = ["qemu-system-arm", "-machine", "microbit", "-nographic", "-monitor", "none", "-serial", "none"]
        machine += ["-semihosting-config", "enable=on,target=native"]
        if pack:
            machine += ["-device", f"loader,file={file.name},addr={address:#x},force-raw=on"]
        machine += ["-plugin", f"{counter()},start=46db,stop=46e4,size=2", "-kernel", program]
        # A program may end with a failure: no scores are given to koan's to compare with.
        text = subprocess.run(machine, capture_output=True, text=True, timeout=60).stderr
    return int(re.search(r"^instructions (\d+)", text, re.M)[1])


@cache
def library(source):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "all.c").write_text(source)
        flags = ["-O2", "-std=c99", "-shared", "-fPIC", "-DNATIVE", "-I", emlearn.includedir]
        run(["gcc", *flags, f"{folder}/all.c", "-lm", "-o", f"{folder}/all.so"])
        return ctypes.CDLL(f"{folder}/all.so")


@cache
def counter():
    output = HERE.parent.parent / "target" / "rivals-count.so"
    run(["gcc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", output, PLUGIN])
    return output


@cache
def empty(inputs):
    text = "#include <stdint.h>\n" + array("volatile int16_t", "inputs", [1] * inputs)
    return linked(f"{text}volatile int32_t result; int main(void) {{ result = inputs[0]; return result; }}\n")


def linked(source):
    """Bytes of code and data."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "all.c").write_text(source)
        run([*ARM, "-I", emlearn.includedir, f"{folder}/all.c", "-lm", "-o", f"{folder}/all.elf"])
        text, data = run(["arm-none-eabi-size", f"{folder}/all.elf"]).splitlines()[1].split()[:2]
        return int(text) + int(data)
