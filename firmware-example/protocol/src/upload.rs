//! A new model, piece by piece, into the spare area.

use base64ct::{Base64, Encoding};

use crate::refusal::Refusal;
use crate::request::Chunk;

/// How much of a new model has come.
#[derive(Debug)]
pub(crate) struct Upload {
    received: usize,
    size: usize,
}

impl Upload {
    pub fn new() -> Self {
        Self { received: 0, size: 0 }
    }

    /// Takes a piece; how many bytes have come, of how many. A piece at offset
    /// 0 starts anew; one that is refused leaves what has come, one at offset 0, too.
    pub fn take(&mut self, chunk: Chunk<'_>, area: &mut [u8]) -> Result<(usize, usize), Refusal> {
        let (offset, size) = (chunk.offset as usize, chunk.size as usize);
        let Self { received, size: begun } =
            if offset == 0 { Self { received: 0, size } } else { Self { ..*self } };
        if size > area.len() {
            return Err(Refusal::Size { size, room: area.len() });
        }
        // Without a beginning there is no size to differ from, but an offset to begin at.
        if received > 0 && size != begun {
            return Err(Refusal::OtherSize { size, begun });
        }
        if offset != received {
            return Err(Refusal::Offset { offset, expected: received });
        }
        if offset == 0 && !is_base64(chunk.data) {
            // Before it is written over what has come.
            return Err(Refusal::Base64 { offset });
        }
        let rest = area.get_mut(received..size).unwrap_or_default();
        let decoded = Base64::decode(chunk.data, rest).map_err(|error| match error {
            base64ct::Error::InvalidEncoding => Refusal::Base64 { offset },
            base64ct::Error::InvalidLength => Refusal::Beyond { offset, size },
        })?;
        if decoded.is_empty() {
            return Err(Refusal::NoData { offset });
        }
        *self = Self { received: received + decoded.len(), size };
        Ok((self.received, size))
    }

    /// Forgets what has come; whether there was anything.
    pub fn clear(&mut self) -> bool {
        let begun = self.received > 0;
        *self = Self::new();
        begun
    }
}

/// Whether all of it can be decoded.
fn is_base64(data: &str) -> bool {
    let mut ended = false;
    data.as_bytes().chunks(64).all(|chunk| {
        let decoded = Base64::decode(chunk, &mut [0; 48]).map_or(0, <[u8]>::len);
        // Nothing follows padding.
        let follows = !core::mem::replace(&mut ended, decoded < 48);
        follows && decoded > 0
    })
}
