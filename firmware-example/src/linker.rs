//! Addresses that the linker knows.

unsafe extern "C" {
    static _pack_start: u32;
    static _pack_end: u32;
    static _stack_start: u32;
    #[cfg_attr(target_arch = "arm", link_name = "_stack_end")]
    #[cfg_attr(target_arch = "riscv32", link_name = "__ebss")]
    static statics_end: u32;
}

/// What the host has put into the memory region `PACK`.
pub(crate) fn pack() -> &'static [u8] {
    let (start, end) = (&raw const _pack_start, &raw const _pack_end);
    let length = end as usize - start as usize;
    // SAFETY: memory.x sets the region aside, in flash: nothing writes to it.
    unsafe { core::slice::from_raw_parts(start.cast(), length) }
}

/// The end of the statics, rounded up to words; the stack grows down to here.
pub(crate) fn stack_bottom() -> usize {
    (&raw const statics_end as usize).next_multiple_of(4)
}

/// Where the stack starts.
pub(crate) fn stack_top() -> usize {
    &raw const _stack_start as usize
}
