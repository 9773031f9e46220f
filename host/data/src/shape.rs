//! What a row is, where that is more than a list of numbers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An image, row by row, the channels of a pixel together; a series is an image of
/// one row.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the image; 1 for a series.
    pub height: usize,
    /// Pixels of a row, or samples of a series.
    pub width: usize,
    /// Numbers of a pixel or sample.
    pub channels: usize,
}

impl Shape {
    /// Numbers of a row of data.
    #[must_use]
    pub fn inputs(self) -> usize {
        self.height.saturating_mul(self.width).saturating_mul(self.channels)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.height > 1 {
            write!(f, "{}x", self.height)?;
        }
        write!(f, "{}x{}", self.width, self.channels)
    }
}

/// `HEIGHTxWIDTHxCHANNELS` of images, `LENGTHxCHANNELS` of series.
impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let message = || {
            format!(
                "`{text}` is neither HEIGHTxWIDTHxCHANNELS of images, such as 28x28x1, nor \
                 LENGTHxCHANNELS of series, such as 128x3"
            )
        };
        let sizes: Result<Vec<usize>, _> = text.split('x').map(str::parse).collect();
        let (height, width, channels) = match sizes.as_deref() {
            Ok(&[width, channels]) => (1, width, channels),
            Ok(&[height, width, channels]) => (height, width, channels),
            _ => return Err(message()),
        };
        if height == 0 || width == 0 || channels == 0 {
            return Err(message());
        }
        Ok(Self { height, width, channels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_as_they_are_written() {
        for text in ["28x28x1", "128x3", "2x2x2"] {
            assert_eq!(text.parse::<Shape>().unwrap().to_string(), text);
        }
        assert_eq!("1x64x3".parse::<Shape>().unwrap().to_string(), "64x3");
        for bad in ["", "28", "0x3", "28x28x0", "2x2x2x2", "2 x 2", "-1x2"] {
            assert!(bad.parse::<Shape>().unwrap_err().contains("28x28x1"), "{bad}");
        }
    }
}
