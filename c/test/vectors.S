/* The vectors of c/test/replay.c in program memory; VECTORS is their file. */
    .section .progmem.data, "a"
    .global vectors, vectors_end
vectors:
    .incbin VECTORS
vectors_end:
