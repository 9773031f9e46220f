//! Ways to a device: a TCP port, such as an emulator's, or a serial port.

use std::fmt;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::time::{Duration, Instant};

use serial2::SerialPort;

/// Bits a second when the address does not say.
const BAUD: u32 = 115_200;
/// Between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(50);

/// Where a device is.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// Host and port.
    Tcp(String),
    Serial {
        port: String,
        baud: u32,
    },
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once(':') {
            Some(("tcp", address)) => match address.rsplit_once(':') {
                Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                    Ok(Self::Tcp(address.into()))
                }
                _ => Err("tcp: needs HOST:PORT, the port from 0 to 65535".into()),
            },
            Some(("serial", port)) => {
                let (port, baud) = match port.rsplit_once(':') {
                    Some((port, baud)) => {
                        let baud = baud.parse().ok().filter(|&baud| baud > 0);
                        (port, baud.ok_or("the baud rate is no number above 0")?)
                    }
                    None => (port, BAUD),
                };
                if port.is_empty() {
                    return Err("serial: needs the name of a port, such as /dev/ttyUSB0".into());
                }
                Ok(Self::Serial { port: port.into(), baud })
            }
            _ => Err("tcp:HOST:PORT or serial:PORT[:BAUD]".into()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::Serial { port, baud } => write!(f, "serial:{port}:{baud}"),
        }
    }
}

/// An open connection.
pub enum Transport {
    Tcp(TcpStream),
    Serial(SerialPort),
}

impl Transport {
    /// Connects within `timeout`; later writes take no longer either.
    pub fn open(address: &Address, timeout: Duration) -> Result<Self> {
        match address {
            Address::Tcp(address) => {
                let stream = connect(address, timeout)?;
                // Requests are short and each waits for the answer to the last.
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(timeout))?;
                Ok(Self::Tcp(stream))
            }
            Address::Serial { port, baud } => {
                let mut port = SerialPort::open(port, *baud)?;
                port.set_write_timeout(timeout)?;
                Ok(Self::Serial(port))
            }
        }
    }

    /// Reads what there is, waiting for it; an error of kind `TimedOut` when
    /// nothing comes within `timeout`, 0 bytes when the connection is closed.
    pub fn read(&mut self, bytes: &mut [u8], timeout: Duration) -> Result<usize> {
        // No time at all would mean no limit.
        let timeout = timeout.max(Duration::from_millis(1));
        let read = match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.read(bytes)
            }
            Self::Serial(port) => {
                port.set_read_timeout(timeout)?;
                port.read(bytes)
            }
        };
        // What a time limit is called depends on the system.
        read.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::Interrupted => ErrorKind::TimedOut.into(),
            _ => error,
        })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(bytes),
            Self::Serial(port) => port.write_all(bytes),
        }
    }
}

/// The first of the host's addresses that answers. Where nobody listens it is tried again until
/// the time is over: an emulator that was just started listens a moment later.
fn connect(address: &str, timeout: Duration) -> Result<TcpStream> {
    let end = Instant::now() + timeout;
    loop {
        let mut failure = Error::new(ErrorKind::NotFound, "the host has no address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = error,
            }
        }
        if failure.kind() != ErrorKind::ConnectionRefused || Instant::now() + AGAIN > end {
            return Err(failure);
        }
        std::thread::sleep(AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn who_listens_a_moment_later_is_waited_for() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let soon = Duration::from_millis(120);
        let refused = connect(&address.to_string(), soon).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        std::thread::scope(|scope| {
            let late = scope.spawn(|| {
                std::thread::sleep(soon);
                TcpListener::bind(address).unwrap().accept().unwrap();
            });
            connect(&address.to_string(), Duration::from_secs(60)).unwrap();
            late.join().unwrap();
        });
    }

    #[test]
    fn addresses() {
        let serial = |port: &str, baud| Address::Serial { port: port.into(), baud };
        for (text, address) in [
            ("tcp:localhost:4000", Address::Tcp("localhost:4000".into())),
            ("tcp:[::1]:4000", Address::Tcp("[::1]:4000".into())),
            ("serial:/dev/ttyUSB0", serial("/dev/ttyUSB0", 115_200)),
            ("serial:COM3:9600", serial("COM3", 9600)),
        ] {
            assert_eq!(text.parse(), Ok(address.clone()));
            assert_eq!(address.to_string().parse(), Ok(address));
        }
        for text in ["", "tcp", "tcp:", "tcp:host", "tcp::1", "tcp:host:99999", "usb:1", "serial:"]
        {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
        assert!("serial:/dev/ttyS0:fast".parse::<Address>().is_err());
        assert!("serial:/dev/ttyS0:0".parse::<Address>().is_err());
    }
}
