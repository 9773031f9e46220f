"""Numbers of any width, one after another, lowest bits first."""

import struct


class Writer:
    def __init__(self):
        self.value = self.length = 0
        self.words = []

    def put(self, value, width):
        """A number of `width` bits, in two's complement if it is negative."""
        value = int(value)
        if not -(1 << width) // 2 <= value < 1 << width:
            raise ValueError(f"{value} has more than {width} bits")
        self.words.append((value & ((1 << width) - 1), width))
        self.length += width

    def put_float(self, value):
        self.put(struct.unpack("<I", struct.pack("<f", value))[0], 32)

    def bytes(self):
        text = "".join(format(value, f"0{width}b")[::-1] for value, width in self.words if width)
        text += "0" * (-len(text) % 8)
        return bytes(int(text[i : i + 8][::-1], 2) for i in range(0, len(text), 8))


class Reader:
    def __init__(self, blob):
        self.bits = "".join(format(byte, "08b")[::-1] for byte in blob)
        self.at = 0

    def get(self, width):
        if width == 0:
            return 0
        field = self.bits[self.at : self.at + width]
        if len(field) < width:
            raise ValueError("the end of the bytes")
        self.at += width
        return int(field[::-1], 2)

    def signed(self, width):
        value = self.get(width)
        return value - (1 << width) if width and value >> (width - 1) else value

    def get_float(self):
        return struct.unpack("<f", struct.pack("<I", self.get(32)))[0]
