//! What the host puts into flash beside the firmware.

/// The whole memory region.
#[must_use]
pub fn region() -> &'static [u8] {
    crate::linker::pack()
}
