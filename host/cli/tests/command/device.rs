//! `koan device`: rows through a device behind a TCP port.

use std::fmt::Write as _;
use std::net::TcpListener;

use serde_json::Value;

use crate::common::{Folder, Random, sensors, waves};
use crate::fake_device::{Number, honest, start};

/// The firmware's own model.
const DIGITS: &[u8] = include_bytes!("../../../../firmware-example/digits.koan");

/// A folder with the firmware's model and images of noise.
fn digits(rows: usize) -> Folder {
    let folder = Folder::new();
    folder.write("digits.koan", DIGITS);
    let mut random = Random::new(7);
    let mut csv = String::new();
    for _ in 0..rows {
        for _ in 0..64 {
            write!(csv, "{},", random.below(17)).unwrap();
        }
        writeln!(csv, "{}", random.below(10)).unwrap();
    }
    folder.write("noise.csv", csv);
    folder
}

/// A folder with a regression of two inputs, `m.koan`, and its data.
fn regression() -> Folder {
    let folder = Folder::new();
    folder.write("waves.csv", waves(150));
    folder.train("waves.csv --features 32").success();
    folder
}

/// The fields of `koan device --json` that `koan eval --json` has too are equal.
fn assert_as_evaluated(folder: &Folder, device: &Value, eval: &str) {
    let eval = folder.json(&format!("eval {eval} --json"));
    for (name, value) in eval.as_object().unwrap() {
        // Only an evaluation compares with baselines.
        if name != "seconds" && name != "baselines" {
            assert_eq!(&device[name], value, "{name}");
        }
    }
}

#[test]
fn every_row_equals_the_hosts() {
    let folder = digits(50);
    let address = start(DIGITS, honest);
    let arguments = format!("device digits.koan noise.csv --connect {address}");
    let text = folder.output(&arguments);
    let runs = format!("runs digits.koan ({} bytes, built in), self test passed", DIGITS.len());
    assert!(text.contains(&runs), "{text}");
    assert!(text.contains("50 of 50 rows equal the host's, "), "{text}");
    assert!(text.contains(" % misclassified, ") && text.contains(" rows/s"), "{text}");
    // The same device again, after the first host has gone.
    let report = folder.json(&format!("{arguments} --json"));
    assert_as_evaluated(&folder, &report, "digits.koan noise.csv");
    assert_eq!((&report["rows"], &report["equal"]), (&50.into(), &50.into()));
    assert_eq!((&report["built_in"], &report["uploaded"]), (&true.into(), &false.into()));
    assert!(report["rows_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn values_of_a_regression_equal_the_hosts() {
    let folder = regression();
    let address = start(&folder.read("m.koan"), honest);
    let arguments = format!("device m.koan waves.csv --connect {address}");
    assert_as_evaluated(&folder, &folder.json(&format!("{arguments} --json")), "m.koan waves.csv");
    let text = folder.output(&arguments);
    assert!(text.contains("150 of 150 rows equal the host's, "), "{text}");
    assert!(text.contains("relative RMS error") && text.contains("RMSE"), "{text}");
}

#[test]
fn another_model_is_uploaded_only_when_asked() {
    let folder = regression();
    let address = start(DIGITS, honest);
    let arguments = format!("device m.koan waves.csv --connect {address}");
    folder.fails(&arguments, &["the device runs another model than m.koan", "--upload"]);
    let report = folder.json(&format!("{arguments} --upload --json"));
    assert_eq!((&report["uploaded"], &report["equal"]), (&true.into(), &150.into()));
    // It stays, and is not sent again.
    let report = folder.json(&format!("{arguments} --upload --json"));
    assert_eq!((&report["uploaded"], &report["built_in"]), (&false.into(), &false.into()));
    let text = folder.output(&format!("device m.koan --connect {address}"));
    assert!(
        text.contains("uploaded before), self test passed") && !text.contains("rows"),
        "{text}"
    );
}

#[test]
fn a_model_that_the_device_refuses_leaves_the_old_one() {
    let folder = digits(5);
    folder.write("waves.csv", waves(600));
    folder.train("waves.csv --features 16 --golden-rows 400").success();
    let address = start(DIGITS, honest);
    let arguments = format!("device m.koan waves.csv --connect {address} --upload");
    folder.fails(&arguments, &["the model has ", "the device has room for 4096"]);
    // A model that is damaged on its way: the device sees it.
    let mut other = DIGITS.to_vec();
    other[200] ^= 1;
    let size = other.len();
    let crc = crc32fast::hash(&other[..size - 4]);
    other[size - 4..].copy_from_slice(&crc.to_le_bytes());
    folder.write("forged.koan", &other);
    let arguments = format!("device forged.koan noise.csv --connect {address} --upload");
    folder.fails(&arguments, &["model refused: self test failed: golden digest"]);
    let report = folder.json(&format!("device digits.koan noise.csv --connect {address} --json"));
    assert_eq!((&report["built_in"], &report["equal"]), (&true.into(), &5.into()));
}

#[test]
fn a_stream_needs_windows_and_a_device_that_takes_it() {
    let folder = digits(5);
    let address = start(DIGITS, honest);
    let arguments = format!("device digits.koan noise.csv --stream --connect {address}");
    folder.fails(&arguments, &["digits.koan", "--stream needs a model of `koan train --window`"]);
    folder.write("samples.csv", sensors(400));
    folder.train("samples.csv --window 8 --stride 8 --features 16").success();
    let address = start(&folder.read("m.koan"), honest);
    let arguments = format!("device m.koan samples.csv --connect {address}");
    let stream = format!("{arguments} --stream");
    folder.fails(&stream, &["the device answered: this device takes no stream of samples"]);
    folder.run(&format!("{arguments} --learn 1")).code(2);
    // Classes have names, and numbers from 0.
    folder.fails(&format!("{stream} --learn hot"), &["this device takes no stream of samples"]);
    let unknown = ["--learn warm: the model has no class of that name, but cold, hot; ", " 2"];
    folder.fails(&format!("{stream} --learn warm"), &unknown);
}

/// A window is more than a line: its samples need not be.
#[test]
fn windows_that_are_longer_than_a_line_can_be_streamed() {
    let folder = Folder::new();
    folder.write("samples.csv", sensors(400));
    folder.train("samples.csv --window 8 --stride 8 --features 16").success();
    let less = |_, line| Some(String::from_utf8(line).unwrap().replace(":1536", ":100").into());
    let address = start(&folder.read("m.koan"), less);
    let arguments = format!("device m.koan samples.csv --connect {address}");
    let parts = ["takes lines of 100", "--stream sends samples one by one"];
    folder.fails(&arguments, &parts);
}

/// As for `koan eval`, a folder stands for the data in it.
#[test]
fn a_folder_of_rows() {
    let folder = digits(5);
    std::fs::create_dir(folder.path("data")).unwrap();
    for name in ["data/a.csv", "data/b.csv"] {
        folder.write(name, folder.read("noise.csv"));
    }
    let address = start(DIGITS, honest);
    let report = folder.json(&format!("device digits.koan data --connect {address} --json"));
    assert_eq!(report["equal"], 10);
    folder.fails(&format!("device digits.koan nothing --connect {address}"), &["nothing"]);
}

/// Changes the first score of the answer to the third row.
fn lie(number: Number, line: Vec<u8>) -> Option<Vec<u8>> {
    let line = String::from_utf8(line).unwrap();
    let lie = if number.row == 3 { line.replace("\"scores\":[", "\"scores\":[1") } else { line };
    Some(lie.replace("[1-", "[-1").into())
}

#[test]
fn a_score_that_differs_is_named() {
    let folder = digits(5);
    let address = start(DIGITS, lie);
    let arguments = format!("device digits.koan noise.csv --connect {address}");
    folder.fails(&arguments, &["row 3 of 5: output 0: the device's score is ", ", the host's "]);
}

#[test]
fn a_class_or_a_value_that_differs_is_named() {
    let class = |number: Number, line: Vec<u8>| {
        let line = String::from_utf8(line).unwrap();
        Some(if number.row == 2 { line.replace("\"class\":", "\"class\":1") } else { line }.into())
    };
    let folder = digits(5);
    let address = start(DIGITS, class);
    let arguments = format!("device digits.koan noise.csv --connect {address}");
    folder.fails(&arguments, &["row 2 of 5: the device's class is 1", ", the host's "]);
    let value = |number: Number, line: Vec<u8>| {
        let line = String::from_utf8(line).unwrap();
        Some(
            if number.row == 1 { line.replace("\"value\":", "\"value\":0,\"was\":") } else { line }
                .into(),
        )
    };
    let folder = regression();
    let address = start(&folder.read("m.koan"), value);
    let arguments = format!("device m.koan waves.csv --connect {address}");
    folder.fails(&arguments, &["row 1 of 150: the device's value is 0, the host's "]);
}

#[test]
fn a_lost_connection_and_a_bad_answer_name_the_row() {
    let folder = digits(5);
    let address = start(DIGITS, |number, line| (number.row != 4).then_some(line));
    let arguments = format!("device digits.koan noise.csv --connect {address}");
    folder.fails(&arguments, &[&address, "row 4 of 5: connection lost"]);
    // The next connection is served again.
    folder.run(&arguments).success();
    let noise =
        |number: Number, line| Some(if number.row == 2 { b"\xff{]\n".to_vec() } else { line });
    let address = start(DIGITS, noise);
    let arguments = format!("device digits.koan noise.csv --connect {address}");
    folder.fails(&arguments, &["row 2 of 5: what came is no answer: \u{fffd}{]"]);
    let silent = |number: Number, line| Some(if number.row == 2 { Vec::new() } else { line });
    let address = start(DIGITS, silent);
    let arguments = format!("device digits.koan noise.csv --connect {address} --timeout 0.3");
    folder.fails(&arguments, &["row 2 of 5: no answer within 0.3 s"]);
    let restart = |number: Number, line| {
        Some(if number.row == 2 { b"{\"ready\":true}\n".to_vec() } else { line })
    };
    let address = start(DIGITS, restart);
    let arguments = format!("device digits.koan noise.csv --connect {address}");
    folder.fails(&arguments, &["row 2 of 5: the device has started anew"]);
}

#[test]
fn first_lines_that_are_lost_or_noise_do_not_matter() {
    let folder = digits(5);
    // The first answers get lost: it is asked again, and answers that come late
    // are not taken for others.
    let late = |number: Number, line: Vec<u8>| match number.line {
        1 | 2 => Some(b"\0\xffboot\n\n{\"error\":\"half a line\"}\n".to_vec()),
        3 => Some([&line[..], &line[..]].concat()),
        _ => Some(line),
    };
    let address = start(DIGITS, late);
    let report = folder.json(&format!("device digits.koan noise.csv --connect {address} --json"));
    assert_eq!(report["equal"], 5);
}

#[test]
fn a_device_that_is_not_there() {
    let folder = digits(5);
    // A port that was free a moment ago.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let arguments = format!("device digits.koan --connect tcp:{closed} --timeout 0.3");
    folder.fails(&arguments, &[&format!("cannot connect to tcp:{closed}"), "refused"]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let arguments = format!("device digits.koan --connect tcp:{address} --timeout 0.3");
    folder.fails(&arguments, &[&format!("tcp:{address}: no answer within 0.3 s")]);
    let talks = start(DIGITS, |_, _| Some(b"hello\n".to_vec()));
    let arguments = format!("device digits.koan --connect {talks} --timeout 0.3");
    folder.fails(&arguments, &["did not say who it is within 0.3 s, but: hello"]);
    let arguments = "device digits.koan --connect serial:no-such-port";
    folder.fails(arguments, &["cannot connect to serial:no-such-port:115200"]);
    let usage = folder.run("device digits.koan --connect nowhere").code(2);
    usage.stderr(predicates::str::contains("tcp:HOST:PORT or serial:PORT[:BAUD]"));
}

#[test]
fn a_row_that_is_longer_than_a_line() {
    let folder = digits(0);
    let row = "-1.1234567e-30,".repeat(64);
    folder.write("short.csv", format!("{row}3\n"));
    let row = "-0.00012345678,".repeat(64).replace(',', "00000000000000,");
    folder.write("trimmed.csv", format!("{row}3\n"));
    let address = start(DIGITS, honest);
    for data in ["short.csv", "trimmed.csv"] {
        folder.run(&format!("device digits.koan {data} --connect {address}")).success();
    }
    let less = |_, line| Some(String::from_utf8(line).unwrap().replace(":1536", ":700").into());
    let address = start(DIGITS, less);
    let arguments = format!("device digits.koan short.csv --connect {address}");
    folder.fails(&arguments, &["row 1 of 1: ", "bytes, the device takes lines of 700"]);
}

/// A pseudo-terminal; its name is found in Linux' way.
#[cfg(target_os = "linux")]
#[test]
fn a_serial_port() {
    use std::os::fd::AsRawFd;

    let folder = digits(20);
    let (mut device, host) = serial2::SerialPort::pair().unwrap();
    device.set_read_timeout(std::time::Duration::from_secs(600)).unwrap();
    let name = std::fs::read_link(format!("/proc/self/fd/{}", host.as_raw_fd())).unwrap();
    crate::fake_device::serve_serial(DIGITS, device);
    let address = format!("serial:{}", name.display());
    let report = folder.json(&format!("device digits.koan noise.csv --connect {address} --json"));
    assert_eq!(
        (&report["equal"], &report["connection"]),
        (&20.into(), &format!("{address}:115200").into())
    );
}
