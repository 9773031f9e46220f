//! A device in this process: the firmware's own protocol, behind a TCP port or
//! a serial line that may be bad.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::thread;

use koan::format::MAX_WORK;
use koan::{Model, OwnedBuffers};
use koan_protocol::{Device, Port};

/// Bytes of a line of the device.
const LINE: usize = 1536;

/// What becomes of the device's lines: another line, or none and the end of the
/// connection.
pub type Line = fn(number: Number, line: Vec<u8>) -> Option<Vec<u8>>;

/// Which line it is, over all connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Number {
    /// From 1 on.
    pub line: usize,
    /// From 1 on; 0 for a line that answers no row.
    pub row: usize,
}

/// Starts a device that runs `blob`; gives its address. It serves one
/// connection after the other until the tests end.
pub fn start(blob: &[u8], line: Line) -> String {
    start_as(blob, line, |device| device)
}

/// The same with a device that is set up further.
pub fn start_as(blob: &[u8], line: Line, set_up: fn(Fake) -> Fake) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    // As in flash, for as long as the device runs.
    let blob: &'static [u8] = Box::leak(blob.into());
    thread::spawn(move || {
        let mut device = set_up(device(blob));
        let mut written = Number::default();
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            let (input, output) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
            let close = Box::new(move || stream.shutdown(Shutdown::Both).unwrap());
            let mut wire = Wire::new(input, output, line, close);
            wire.written = written;
            device.greet(&mut wire);
            device.serve(&mut wire);
            written = wire.written;
        }
    });
    address
}

/// Serves `blob` on one end of a serial line.
#[cfg(unix)]
pub fn serve_serial(blob: &'static [u8], port: serial2::SerialPort) {
    thread::spawn(move || {
        let mut device = device(blob);
        let input = port.try_clone().unwrap();
        let mut wire = Wire::new(input, port, honest, Box::new(|| {}));
        device.greet(&mut wire);
        device.serve(&mut wire);
    });
}

/// With room as the firmware's.
pub type Fake = Device<OwnedBuffers<128, 128, 128, 16>, LINE, 128, 4096>;

fn device(blob: &'static [u8]) -> Fake {
    Device::new(Model::parse(blob).unwrap(), OwnedBuffers::new(), MAX_WORK)
}

struct Wire {
    input: BufReader<Box<dyn Read>>,
    output: Box<dyn Write>,
    line: Line,
    close: Box<dyn Fn()>,
    /// The last line that was written, and the last one that answers a row.
    written: Number,
}

impl Wire {
    fn new(
        input: impl Read + 'static,
        output: impl Write + 'static,
        line: Line,
        close: Box<dyn Fn()>,
    ) -> Self {
        let input: Box<dyn Read> = Box::new(input);
        let output = Box::new(output);
        Self { input: BufReader::new(input), output, line, close, written: Number::default() }
    }
}

impl Port for Wire {
    fn read(&mut self) -> Option<u8> {
        let mut byte = [0];
        matches!(self.input.read(&mut byte), Ok(1)).then_some(byte[0])
    }

    fn write(&mut self, bytes: &[u8]) {
        let scores = b"\"scores\":";
        let is_row = bytes.windows(scores.len()).any(|part| part == scores);
        self.written.line += 1;
        self.written.row += usize::from(is_row);
        let number = Number { row: if is_row { self.written.row } else { 0 }, ..self.written };
        let line = (self.line)(number, bytes.to_vec());
        match line {
            // A host that has gone shows when the next byte is read.
            Some(line) => drop(self.output.write_all(&line)),
            None => (self.close)(),
        }
    }
}

/// The lines as they are.
pub fn honest(_: Number, line: Vec<u8>) -> Option<Vec<u8>> {
    Some(line)
}
