//! Colours of figures, which a style sheet replaces in the dark.
//!
//! A figure is drawn in the light colours, so that it stands alone. Rules that
//! select by the attribute's value replace them where the reader prefers a dark
//! page; on paper it stays light.

use std::fmt::Write;

use plotters::style::RGBColor;

/// A colour on a light ground and its counterpart on a dark one.
#[derive(Clone, Copy, Debug)]
pub struct Colour {
    light: (u8, u8, u8),
    dark: (u8, u8, u8),
}

const fn colour(light: u32, dark: u32) -> Colour {
    const fn parts(rgb: u32) -> (u8, u8, u8) {
        ((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
    }
    Colour { light: parts(light), dark: parts(dark) }
}

/// Text and axes.
pub const INK: Colour = colour(0x1b1f24, 0xe6e8eb);
/// Lines of reference.
pub const MUTED: Colour = colour(0x59636e, 0xa3adb8);
/// Lines of the grid.
pub const GRID: Colour = colour(0xdadfe4, 0x363c44);
/// Series: blue, orange, green, purple, pink, teal, brown, grey. Each is readable
/// as text on its ground.
pub const SERIES: [Colour; 8] = [
    colour(0x0b62a8, 0x7cc0ff),
    colour(0xc2410c, 0xff9e64),
    colour(0x15803d, 0x6ee79a),
    colour(0x7e22ce, 0xd0a2ff),
    colour(0xbe185d, 0xff8fc0),
    colour(0x0e7490, 0x67e0f5),
    colour(0x854d0e, 0xe5c07b),
    colour(0x475569, 0xa9b7c9),
];

impl Colour {
    /// To draw with.
    pub const fn light(self) -> RGBColor {
        RGBColor(self.light.0, self.light.1, self.light.2)
    }

    /// As an attribute's value, the way the SVG back end writes it.
    pub fn attribute(self) -> String {
        hex(self.light)
    }
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// The rules for a dark ground.
pub fn dark_rules() -> String {
    let mut rules = String::from("@media screen and (prefers-color-scheme: dark) {\n");
    for colour in [INK, MUTED, GRID].iter().chain(&SERIES) {
        let (light, dark) = (hex(colour.light), hex(colour.dark));
        // Writing to a string does not fail.
        let _ = writeln!(
            rules,
            "  svg [fill=\"{light}\"] {{ fill: {dark}; }} svg [stroke=\"{light}\"] {{ stroke: {dark}; }}"
        );
    }
    rules.push_str("}\n");
    rules
}
