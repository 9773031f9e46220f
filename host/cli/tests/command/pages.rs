//! `--report`: the page that a training and an evaluation write. What a browser
//! makes of it is tested there (`wasm/tests/report.test.mjs`).

use predicates::str::contains;

use crate::common::{Folder, QUICK, quadrants, waves};

fn page(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

/// The text of all cells of the first table with this caption, row by row.
fn cells(page: &str, caption: &str) -> Vec<String> {
    let start = page.find(&format!("<caption>{caption}")).expect(caption);
    let table = &page[start..start + page[start..].find("</table>").unwrap()];
    table
        .split('<')
        .filter(|part| part.starts_with("td") || part.starts_with("th"))
        .filter_map(|part| part.split_once('>').map(|(_, text)| text.to_owned()))
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn a_training_writes_what_it_did() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    let train = format!("train q.csv -k 32 -o m.koan {QUICK} --report r.html");
    let report = folder.json(&format!("{train} --json"));
    let page = page(&folder, "r.html");
    // The same error as the report's, in the table and of the whole model.
    let error = format!("{:.2} %", 100.0 * report["error"].as_f64().unwrap());
    assert!(page.contains(&format!("{error} misclassified on 40 test rows")), "{error}");
    assert_eq!(cells(&page, "Share of the test rows")[2..4], ["the model", &error]);
    let command = format!("<code>koan {train} --json</code>");
    assert!(page.contains(&command.replace("  ", " ")), "{command}");
    // The checksum is that of the file, computed here.
    let crc = format!("{:08x}", crc32fast::hash(&folder.read("q.csv")));
    let files = cells(&page, "Files");
    let size = folder.read("q.csv").len().to_string();
    assert_eq!(files[4..], ["q.csv", "data", &size, &crc]);
    let parts = cells(&page, "Where the bytes go");
    let bytes: usize = parts.iter().filter_map(|cell| cell.parse::<usize>().ok()).sum();
    assert_eq!(bytes, folder.read("m.koan").len());
}

#[test]
fn the_classes_of_an_evaluation_add_up() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder.run(&format!("train q.csv -k 32 -o m.koan {QUICK}")).success();
    let result = folder.json("eval m.koan q.csv --json --report e.html");
    let page = page(&folder, "e.html");
    let classes = cells(&page, "Classes");
    let rows: Vec<&[String]> = classes[5..].chunks(5).collect();
    let confusion = result["confusion"].as_array().unwrap();
    assert_eq!(rows.len(), confusion.len());
    for (class, row) in rows.iter().enumerate() {
        let count = |a: usize, p: usize| confusion[a][p].as_f64().unwrap();
        let hits = count(class, class);
        let support: f64 = (0..confusion.len()).map(|p| count(class, p)).sum();
        let predicted: f64 = (0..confusion.len()).map(|a| count(a, class)).sum();
        let (precision, recall) = (hits / predicted, hits / support);
        let f1 = 2.0 * precision * recall / (precision + recall);
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        assert_eq!(row[1..4], [percent(precision), percent(recall), percent(f1)]);
        assert_eq!(row[4], support.to_string());
    }
}

#[test]
fn every_task_has_its_page() {
    let folder = Folder::new();
    folder.write("w.csv", waves(200));
    folder.write("q.csv", quadrants(200));
    let quick = "--frequency 1 --map per-input -k 16 -o m.koan --report r.html";
    for (data, task, expected) in [
        ("w.csv", "--lambda 0.001 --relevance no", "Residuals against predictions"),
        ("q.csv", "--family bin --relevance no", "Error against features"),
        ("q.csv", "--loss hinge --relevance no", "Error against bits"),
        ("q.csv", "--task embedding", "first two coordinates"),
        ("q.csv", "--task anomaly --normal 1 --false-alarm 0.2", "Alarms on the test rows"),
    ] {
        folder.run(&format!("train {data} {task} {quick}")).success();
        assert!(page(&folder, "r.html").contains(expected), "{task}: {expected}");
    }
}

/// Nothing is explained of targets that are all the same.
#[test]
fn pages_of_a_single_row() {
    let folder = Folder::new();
    folder.write("w.csv", waves(200));
    folder.train("w.csv -k 16").success();
    folder.write("one.csv", "x,y,z\n0.5,0.5,1\n");
    folder.run("eval m.koan one.csv --report r.html").success();
    let page = page(&folder, "r.html");
    assert!(!page.contains("NaN") && !page.contains("1 rows"), "{page}");
    assert!(page.contains("1 row"), "{page}");
}

/// As a recording of one activity: what always predicts its class errs nowhere.
#[test]
fn rows_of_one_class_do_not_make_a_model_useless() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(200));
    folder.train("q.csv -k 16").success();
    let csv = quadrants(200);
    let (title, rows) = csv.split_once('\n').unwrap();
    let one: Vec<&str> = rows.lines().filter(|row| row.ends_with(",1")).collect();
    folder.write("one.csv", format!("{title}\n{}\n", one.join("\n")));
    let told = folder.json("eval m.koan one.csv --json --report r.html");
    assert!(told.get("baselines").is_none(), "{told}");
    let page = page(&folder, "r.html");
    assert!(page.contains("All rows have the same target") && !page.contains("Of no use"));
}

#[test]
fn a_page_needs_rows_that_were_not_seen_and_a_place() {
    let folder = Folder::new();
    folder.write("q.csv", quadrants(100));
    let train = format!("train q.csv -k 16 -o m.koan {QUICK}");
    folder
        .run(&format!("{train} --folds 3 --report r.html"))
        .failure()
        .stderr(contains("--report needs rows that the model has not seen"));
    folder
        .run(&format!("{train} --stream yes --report r.html"))
        .failure()
        .stderr(contains("--report needs the rows in memory"));
    // Before anything is trained.
    folder
        .run(&format!("{train} --report nowhere/r.html"))
        .failure()
        .stderr(contains("cannot write nowhere/r.html"));
    assert!(!folder.path("m.koan").exists());
}

/// Targets far from 0 are all told to within a small part of themselves: digits must show which
/// model is the better one.
#[test]
fn errors_of_targets_far_from_zero_have_digits() {
    let folder = Folder::new();
    let far: String = waves(300)
        .lines()
        .enumerate()
        .map(|(row, line)| match line.rsplit_once(',') {
            Some((rest, z)) if row > 0 => {
                format!("{rest},{:.4}\n", 20_000.0 + z.parse::<f64>().unwrap())
            }
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("far.csv", far);
    let train = format!("train far.csv -k 32 -o m.koan {QUICK} --report r.html");
    let report = folder.json(&format!("{train} --json"));
    let number = |name: &str| report[name].as_f64().unwrap();
    assert!(number("error") < 1e-4 && number("rmse") > 0.001, "{report}");
    let constant = &report["baselines"]["constant_rmse"];
    assert!((constant.as_f64().unwrap() / number("rmse")) > 1.5, "{report}");
    let told = folder.output(&train);
    let three = |error: &str| {
        let digits = error.split_once('0').unwrap().1.trim_start_matches(['.', '0']);
        assert_eq!(digits.len(), 3, "{error}: {told}");
    };
    three(told.split_once("m.koan: ").unwrap().1.split_once(" % relative RMS").unwrap().0);
    three(told.split_once("constant ").unwrap().1.split_once(" %, linear").unwrap().0);
    let line = told.lines().find(|line| line.contains("in the target's units")).unwrap();
    let line: Vec<&str> = line.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
    let [_, rmse, .., of_constant, _, of_linear] = line[..] else { panic!("{line:?}") };
    assert_eq!(rmse, format!("{:.6}", number("rmse")));
    assert_eq!(of_constant, format!("{:.6}", constant.as_f64().unwrap()));
    assert!(of_linear.parse::<f64>().unwrap() > 0.0);
    let page = page(&folder, "r.html");
    assert!(!page.contains("0.00 %"));
    let worst = cells(&page, "Test rows with the largest residuals");
    let apart = worst.windows(2).any(|pair| {
        pair.iter().all(|cell| cell.starts_with("20000.") || cell.starts_with("19999."))
            && pair[0] != pair[1]
    });
    assert!(apart, "{worst:?}");
}
