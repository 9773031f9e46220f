//! The program of the firmware's guide on a core without a float unit (`guide.rs` runs the guide
//! itself, on another): samples make a steady class, and a movement that is shown becomes a
//! further one.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::machines;
use crate::serial::{Emulator, Host};
use crate::steps::root;

/// With room for stream, learner and protocol.
const TARGETS: [&str; 1] = ["riscv32imc-unknown-none-elf"];
/// The model that `exercise` carries.
const MODEL: &str = "tests/models/exercises-conv-160.koan";
const SAMPLES: usize = 640;
/// Windows of 128 samples with a hop of 32.
const WINDOWS: usize = (SAMPLES - 128) / 32 + 1;
/// The class that the model does not know.
const SHOWN: &str = "class 4";

/// Builds and runs the program `exercise`.
pub fn test(host: &Host) -> Result<()> {
    let machines = machines::of(&TARGETS)?;
    machines::build(&machines, &["exercise"], "")?;
    std::fs::copy(root()?.join(MODEL), host.path("exercises.koan")).context(MODEL)?;
    std::fs::write(host.path("known.csv"), recording(0.06))?;
    std::fs::write(host.path("new.csv"), recording(0.35))?;
    for machine in &machines {
        let device = Emulator::start(machine, &machine.program("exercise")?, host.folder.path())?;
        let stream = |arguments: &str| {
            streamed(host, &device, arguments).with_context(|| machine.to_string())
        };
        let known = stream("known.csv")?;
        ensure!(known != SHOWN, "{machine}: {known} before it was shown");
        let new = stream("new.csv")?;
        ensure!(new != SHOWN, "{machine}: {new} before it was shown");
        stream("new.csv --learn 4")?;
        let new = stream("new.csv")?;
        ensure!(new == SHOWN, "{machine}: {new} after {SHOWN} was shown");
        // What it knew is not lost.
        let again = stream("known.csv")?;
        ensure!(again == known, "{machine}: {again} where it was {known}");
        eprintln!(
            "  {machine}: {WINDOWS} windows are the host's, a movement that was shown is known"
        );
    }
    Ok(())
}

/// The last steady class of a stream, every window of which must have the host's scores.
fn streamed(host: &Host, device: &Emulator, arguments: &str) -> Result<String> {
    let connect = format!("--connect tcp:{} --timeout 20", device.address);
    let report =
        host.run(&format!("device exercises.koan {arguments} --stream {connect} --json"))?;
    let report: Value = serde_json::from_str(&report)?;
    let stream = &report["stream"];
    let whole = stream["samples"] == json!(SAMPLES) && stream["windows"] == json!(WINDOWS);
    ensure!(whole, "{SAMPLES} samples and {WINDOWS} windows expected: {stream}");
    let steady = stream["steady"].as_array().and_then(|all| all.last()).context("no class")?;
    Ok(steady["class"].as_str().unwrap_or("unknown").to_owned())
}

/// A recording, in the columns of the model.
fn recording(step: f32) -> String {
    let lines = samples(SAMPLES, step, "squat", "made").join("\n");
    format!("{COLUMNS}\n{lines}\n")
}

/// The columns of recordings.
pub const COLUMNS: &str = "time,x,y,z,subject,file,activity";

/// Lines of so many accelerations, in g, of something that swings.
pub fn samples(count: usize, step: f32, exercise: &str, file: &str) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(1);
    let line = |sample| {
        let angle = sample as f32 * step;
        let mut noisy = |x: f32| x + 0.1 * random.f32();
        let (x, y) = (noisy(0.6 * angle.sin()), noisy(1.0 + 0.4 * angle.cos()));
        let z = noisy(0.3 * (2.0 * angle).sin());
        format!("{},{x},{y},{z},nobody,{file},{exercise}", sample as f32 / 100.0)
    };
    (0..count).map(line).collect()
}
