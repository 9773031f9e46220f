//! The arguments of `koan device`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::transport::Address;
use crate::arguments::Reading;

#[derive(Debug, Args)]
pub struct Device {
    /// The model that the device is to run, signed or not
    pub model: PathBuf,
    /// Data with targets, a file or a folder, whose rows the device is to answer
    pub data: Option<PathBuf>,
    /// Where the device is: tcp:HOST:PORT or serial:PORT[:BAUD]
    #[arg(long, value_name = "ADDRESS")]
    pub connect: Address,
    /// Send the model to the device if that runs another one; a signed one is always sent
    #[arg(long)]
    pub upload: bool,
    /// Send the data sample by sample, as a sensor would, and print the steady class
    #[arg(long, requires = "data")]
    pub stream: bool,
    /// With --stream: show the device that every window is of this class, by its name or its
    /// number from 0; one more than the model's last is a new class
    #[arg(allow_negative_numbers = true, long, value_name = "CLASS", requires = "stream")]
    pub learn: Option<String>,
    /// How long to wait until somebody listens to a TCP port, and then for an answer
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub timeout: Duration,
    #[command(flatten)]
    pub reading: Reading,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or("a number from 0.001 to 86400".into())
}
