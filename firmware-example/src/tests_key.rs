// The public key of the tests. The secret one is 32 times the byte 7: a real one comes from
// `koan keygen`, which prints such a line.
const KEY: PublicKey = PublicKey([
    234, 74, 108, 99, 226, 156, 82, 10, 190, 245, 80, 123, 19, 46, 197, 249, 149, 71, 118, 174,
    190, 190, 123, 146, 66, 30, 234, 105, 20, 70, 210, 44,
]);
