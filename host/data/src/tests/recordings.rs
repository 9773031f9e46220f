//! Several files, recordings, windows, and splits that respect them.

use super::*;

/// Three recordings in folders: a ramp with its target in a column.
fn folders() -> (Files, Vec<PathBuf>) {
    let files = Files::new();
    let mut paths = Vec::new();
    for (folder, name, start, samples) in
        [("walk", "a", 0, 7), ("walk", "b", 100, 5), ("run", "c", 200, 6)]
    {
        std::fs::create_dir_all(files.0.path().join(folder)).unwrap();
        let rows: String = (start..start + samples).map(|i| format!("{i},{}\n", 2 * i)).collect();
        let path = files.write(&format!("{folder}/{name}.csv"), format!("x,y\n{rows}"));
        paths.push(path);
    }
    files.write("walk/notes.md", "no data");
    files.write("walk/.hidden.csv", "no data");
    (files, paths)
}

fn windows(samples: usize, stride: usize) -> ReadOptions {
    ReadOptions {
        window: Some(Window { samples, stride }),
        group: Some("file".into()),
        label_from: Some("folder".parse().unwrap()),
        ..options()
    }
}

#[test]
fn folders_are_their_data_files() {
    let (files, paths) = folders();
    let found = expand(&[files.0.path().to_owned()]).unwrap();
    assert_eq!(found, [paths[2].clone(), paths[0].clone(), paths[1].clone()]);
    let empty = Files::new();
    let error = expand(&[empty.0.path().to_owned()]).unwrap_err().to_string();
    assert!(error.contains("no data files in this folder"), "{error}");
}

#[test]
fn windows_are_sample_major_and_within_a_file() {
    let (_files, paths) = folders();
    let table = read_all(&paths, &windows(4, 2)).unwrap();
    // 7 samples: from 0 and 2; 5: from 0; 6: from 0 and 2.
    assert_eq!((table.rows(), table.inputs), (5, 8));
    assert_eq!(table.row(1), [2.0, 4.0, 3.0, 6.0, 4.0, 8.0, 5.0, 10.0]);
    assert_eq!(table.row(2)[..2], [100.0, 200.0]);
    assert_eq!(table.schema.classes, ["run", "walk"]);
    assert_eq!(table.target, Target::Classes { labels: vec![1, 1, 1, 0, 0] });
    assert_eq!(table.division, Division::Groups(vec![0, 0, 1, 2, 2]));
    assert_eq!(
        json(&table.schema),
        r#"{"columns":["x","y"],"window":[4,2],"group":"file","label":"folder"}"#
    );
    let noted = Schema { warnings: Vec::new(), ..table.schema.clone() };
    assert_eq!(through_json(&noted), noted);
    // A stream of samples gives windows as they are complete.
    let rows = stream("x,y\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n", &table.schema).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1], (7, vec![3.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 6.0]));
}

#[test]
fn windows_end_where_a_recording_does() {
    let text = "x,who,y\n1,a,u\n2,a,u\n3,b,v\n4,b,u\n5,b,v\n6,a,v\n7,a,v\n";
    let options = ReadOptions {
        window: Some(Window { samples: 2, stride: 1 }),
        group: Some("who".into()),
        ..options()
    };
    let table = read_text(text, &options).unwrap();
    // The recordings of a are two runs, but one group; a tie goes to the earlier.
    assert_eq!(table.values, [1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(table.target, Target::Classes { labels: vec![0, 1, 0, 1] });
    assert_eq!(table.division, Division::Groups(vec![0, 1, 1, 0]));
    let schema = table.schema.without_names();
    assert_eq!(json(&schema), r#"{"columns":[1,-1,0],"window":[2,1],"group":1}"#);
    assert_eq!(through_json(&schema), schema);
    // Numbers are averaged.
    let text = "x,who,y\n1,a,0.5\n2,a,1\n3,a,3\n4,a,0.25\n";
    let table = read_text(text, &options).unwrap();
    assert_eq!(table.target, Target::Values(vec![0.75, 2.0, 1.625]));
}

#[test]
fn missing_samples_are_the_median_of_their_channel() {
    let text = "x,y,c\n1,10,u\n?,20,u\n5,30,v\n9,?,v\n";
    let options = ReadOptions { window: Some(Window { samples: 2, stride: 2 }), ..imputing() };
    let table = read_text(text, &options).unwrap();
    assert_eq!(table.values, [1.0, 10.0, 5.0, 20.0, 5.0, 30.0, 9.0, 20.0]);
}

/// Classes of windows are texts as they are written, also where these look like numbers.
#[test]
fn windows_of_texts_like_numbers() {
    let options = ReadOptions { window: Some(Window { samples: 2, stride: 2 }), ..options() };
    for (one, two) in [("1.0", "2.0"), ("+1", "-1")] {
        let head = format!("@relation r\n@attribute a numeric\n@attribute c {{{one},{two}}}\n");
        let rows = format!("@data\n1,{two}\n2,{two}\n3,{one}\n4,{one}\n");
        let table = read_text(head + &rows, &options).unwrap();
        let place = table.schema.classes.iter().position(|class| class == one).unwrap() as u32;
        assert_eq!(table.target, Target::Classes { labels: vec![1 - place, place] });
    }
    let table = read_text("x,c\n1,none\n2,none\n3,1.0\n4,1.0\n", &options).unwrap();
    assert_eq!(table.schema.classes, ["1.0", "none"]);
    assert_eq!(table.target, Target::Classes { labels: vec![1, 0] });
    // Numbers count together, however they are written.
    let text = "x,c\n1,1\n2,2\n3,2.0\n4,1\n5,1\n6,+1\n7,1\n8,2\n9,2\n";
    let window = Some(Window { samples: 3, stride: 3 });
    let table = read_text(text, &ReadOptions { window, ..options }).unwrap();
    assert_eq!(table.target, Target::Classes { labels: vec![1, 0, 1] });
}

#[test]
fn windows_with_few_values_are_told() {
    let text = "x,y,c\n1,10,u\n?,20,u\n5,?,v\n9,?,v\n3,?,u\n4,1,v\n";
    let options = ReadOptions { window: Some(Window { samples: 2, stride: 2 }), ..imputing() };
    let table = read_text(text, &options).unwrap();
    let told = |warnings: &[DataWarning]| match warnings {
        [DataWarning::Filled { windows: 3, filled: 1, .. }] => warnings[0].to_string(),
        other => panic!("{other:?}"),
    };
    assert!(told(&table.schema.warnings).contains("in 1 of 3 windows more than half of the"));
    // Of rows to predict as well.
    let schema = through_json(&Schema { warnings: Vec::new(), ..table.schema });
    let mut reader = rows_from(text.as_bytes(), "standard input", &schema, &options).unwrap();
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 3);
    told(&reader.left_out().unwrap());
}

/// Rows that do not say which recording they are of are none of a recording of their own.
#[test]
fn rows_without_a_group_are_refused() {
    let text = "x,who,y\n1,ann,u\n2,ann,v\n3,bob,u\n4,bob,v\n";
    let options = ReadOptions { group: Some("who".into()), ..options() };
    let window = Some(Window { samples: 2, stride: 2 });
    let windows = ReadOptions { window, ..options.clone() };
    let table = read_text(text, &options).unwrap();
    let windowed = read_text(text, &windows).unwrap();
    for missing in ["", "NA", "?"] {
        let lacking = text.replace("4,bob", &format!("4,{missing}"));
        let expected = "t.csv:5: column 2 (`who`): the group is missing";
        for options in [&options, &windows, &imputing()] {
            let grouped = ReadOptions { group: Some("who".into()), ..options.clone() };
            assert_eq!(read_text(&lacking, &grouped).unwrap_err(), expected);
        }
        // Nor as test data, or as samples; a row to predict is of no recording.
        let told = |error: String| error.ends_with(":5: column 2 (`who`): the group is missing");
        assert!(told(read_text_with(&lacking, &table.schema).unwrap_err()));
        assert!(told(stream(&lacking, &windowed.schema).unwrap_err()));
        assert_eq!(stream(&lacking, &table.schema).unwrap().len(), 4);
        // In blocks neither.
        let files = Files::new();
        let path = [files.write("t.csv", &lacking)];
        assert_eq!(files.message(&infer_all(&path, &options).unwrap_err()), expected);
        let take = |_| Ok(());
        let blocks = crate::stream::for_each_block(&path, &table.schema, &options, 0, take);
        assert_eq!(files.message(&blocks.unwrap_err()), expected);
    }
}

/// Samples to predict may be of one recording; that they may not be is told.
#[test]
fn samples_without_the_column_of_recordings_are_told() {
    let text = "x,who,y\n1,ann,u\n2,ann,u\n3,bob,v\n4,bob,v\n";
    let window = Some(Window { samples: 2, stride: 2 });
    let options = ReadOptions { group: Some("who".into()), window, ..options() };
    let schema = through_json(&read_text(text, &options).unwrap().schema);
    let told = |text: &str| {
        let mut reader = rows_from(text.as_bytes(), "a.csv", &schema, &options).unwrap();
        assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 1);
        reader.left_out().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(told("x,who\n1,ann\n2,ann\n").is_empty());
    let expected = "a.csv: column 2 (`who`) is missing, which tells recordings apart: windows may \
                    reach from one into the next";
    assert_eq!(told("x\n1\n2\n"), [expected]);
}

#[test]
fn recordings_that_cannot_be() {
    let (files, paths) = folders();
    let refused = |options: &ReadOptions| files.message(&read_all(&paths, options).unwrap_err());
    assert!(refused(&windows(9, 9)).contains("no recording has the 9 samples of a window"));
    let overlap = ReadOptions { group: None, ..windows(4, 2) };
    assert!(refused(&overlap).contains("overlap; say what tells recordings apart"));
    let both = ReadOptions { target: Some("y".into()), ..windows(4, 4) };
    assert!(refused(&both).contains("not both"));
    let nowhere = ReadOptions { label_from: Some("walk/x(\\d)".parse().unwrap()), ..windows(4, 4) };
    assert!(refused(&nowhere).contains("walk/a.csv: the path has no label"));
    let group = ReadOptions { group: Some("z".into()), ..windows(4, 4) };
    assert!(refused(&group).contains("no column `z`"));
    files.write("run/c.csv", "x,z\n1,2\n3,4\n");
    let unlike = "run/c.csv: column 2 is `z` instead of `y`, unlike walk/b.csv";
    assert!(refused(&windows(4, 4)).contains(unlike));
    files.write("run/c.csv", "x,y\n1,2\n3,oops\n5,6\n");
    let task = Some(Task::Regression);
    let table = read_all(&paths, &ReadOptions { label_from: None, task, ..windows(2, 2) });
    let slip = files.message(&table.unwrap_err());
    assert!(slip.starts_with("run/c.csv:3: column 2 (`y`): the target \"oops\""), "{slip}");
    assert!("run|walk".parse::<LabelFrom>().is_err());
}

#[test]
fn labels_from_names() {
    let label = |from: &str, path: &str| {
        from.parse::<LabelFrom>().unwrap().label(std::path::Path::new(path)).unwrap()
    };
    assert_eq!(label("file", "data/Revelio.csv.gz"), "Revelio");
    assert_eq!(label("folder", "data/cycling/d1.csv"), "cycling");
    assert_eq!(label(r"(?:train|test)_(\w+)\.", "x/test_Revelio.csv.gz"), "Revelio");
}

/// A table of so many rows, in groups of `size`, of three classes.
fn grouped(rows: usize, size: usize) -> Table {
    Table {
        inputs: 1,
        values: vec![0.0; rows],
        target: Target::Classes { labels: (0..rows).map(|row| (row / size % 3) as u32).collect() },
        schema: Schema::new(Format::Csv),
        division: Division::Groups((0..rows).map(|row| (row / size) as u32).collect()),
        weights: None,
    }
}

#[test]
fn no_group_is_on_both_sides() {
    for (rows, size) in [(600, 7), (90, 1), (64, 30), (3000, 100)] {
        let table = grouped(rows, size);
        for seed in 0..20 {
            let (train, test) = split_table(&table, SplitSize::TestFraction(0.2), seed).unwrap();
            assert!(!train.is_empty() && !test.is_empty());
            assert_eq!(train.len() + test.len(), rows);
            let side: std::collections::HashSet<usize> =
                test.iter().map(|row| row / size).collect();
            assert!(train.iter().all(|row| !side.contains(&(row / size))), "{rows} {size}");
            // About a fifth, as nearly as groups allow.
            if rows / size > 60 {
                let share = test.len() as f64 / rows as f64;
                assert!((share - 0.2).abs() < 0.1, "{share}");
            }
        }
    }
    let single = grouped(10, 10);
    let needed = "cannot split 10 rows: all are of one group, and at least two are needed: a \
                  group, such as a recording, stays whole";
    let split = split_table(&single, SplitSize::TestFraction(0.2), 1);
    assert_eq!(split.unwrap_err().to_string(), needed);
    assert_eq!(folds(&single, 2, 1).unwrap_err().to_string(), needed);
}

#[test]
fn folds_are_of_whole_groups_and_about_equal() {
    let table = grouped(600, 5);
    let parts = folds(&table, 5, 3).unwrap();
    for group in parts.chunks(5) {
        assert!(group.iter().all(|part| *part == group[0]));
    }
    let Target::Classes { labels } = &table.target else { panic!("no classes") };
    for part in 0..5 {
        for class in 0..3 {
            let of = |row: &usize| parts[*row] == part && labels[*row] == class;
            assert_eq!((0..600).filter(of).count(), 40);
        }
    }
    assert!(folds(&grouped(20, 10), 3, 1).is_err());
    assert!(folds(&table, 1, 1).is_err());
    let free = Table { division: Division::Free, ..grouped(10, 1) };
    let mut parts = folds(&free, 10, 1).unwrap();
    parts.sort_unstable();
    assert_eq!(parts, (0..10).collect::<Vec<_>>());
}

#[test]
fn samples_that_fill_no_window_are_told() {
    let rows = |count: usize| -> String {
        (0..count).map(|i| format!("{},{}.5\n", i * i % 5, i % 7)).collect()
    };
    let files = Files::new();
    let paths = [("a.csv", 11), ("b.csv", 3), ("c.csv", 8)]
        .map(|(name, count)| files.write(name, format!("x,y\n{}", rows(count))));
    let window = Some(Window { samples: 4, stride: 4 });
    let options = ReadOptions { window, ..regression() };
    let table = read_all(&paths, &options).unwrap();
    assert_eq!(table.rows(), 4);
    // All files are counted together.
    let told: Vec<String> = table.schema.warnings.iter().map(ToString::to_string).collect();
    assert!(told.iter().all(|told| told.contains("a.csv and 2 more: ")), "{told:?}");
    // That of three samples has no window at all.
    let unused = |table: &Table| match &table.schema.warnings[..] {
        [DataWarning::Short { short: 1, .. }, DataWarning::Unused { samples, unused, .. }] => {
            (*unused, *samples)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(unused(&table), (3, 22));
    // The same when it is judged.
    let schema = through_json(&Schema { warnings: Vec::new(), ..table.schema.clone() });
    let again = read_all_with(&paths, &schema, &super::options()).unwrap();
    assert_eq!(unused(&again), (3, 22));
    assert!(read(&paths[2], &options).unwrap().schema.warnings.is_empty());
    // What is between two windows is in none, either: 2 and 1 of the first, 4 of the last.
    let window = Some(Window { samples: 4, stride: 6 });
    let apart = read_all(&paths, &ReadOptions { window, ..regression() }).unwrap();
    assert_eq!((apart.rows(), unused(&apart)), (3, (7, 22)));
}

#[test]
fn recordings_without_a_window_are_named() {
    let files = Files::new();
    let rows = |name: &str, count: usize| -> String {
        (0..count).map(|i| format!("{name},{},{}.5\n", i * i % 5, i % 7)).collect()
    };
    let text = |recordings: &[(&str, usize)]| -> String {
        let all = recordings.iter().map(|(name, count)| rows(name, *count));
        std::iter::once("who,x,y\n".to_owned()).chain(all).collect()
    };
    let window = Some(Window { samples: 4, stride: 4 });
    let options = ReadOptions { window, group: Some("who".into()), ..regression() };
    let path = files.write("a.csv", text(&[("ann", 9), ("bob", 3), ("cid", 2), ("dan", 4)]));
    let table = read(&path, &options).unwrap();
    let told: Vec<String> = table.schema.warnings.iter().map(ToString::to_string).collect();
    assert!(told[0].contains("2 of 4 recordings are shorter"), "{told:?}");
    assert!(told[0].ends_with("give no row: bob, cid"), "{told:?}");
    assert!(told[1].contains("1 of 18 samples"), "{told:?}");

    let path = files.write("b.csv", text(&[("ann", 3), ("bob", 2), ("ann", 1)]));
    let error = read(&path, &options).unwrap_err().to_string();
    assert!(error.contains("the longest of 3 has 3"), "{error}");
}

#[test]
fn times_that_begin_anew_in_each_recording_are_told() {
    let files = Files::new();
    let recording = |name: &str| -> String {
        (0..30).map(|i| format!("{name},{},{},{}.5\n", 10 * i, i * i % 5, i % 7)).collect()
    };
    let text = format!("who,time,x,y\n{}{}", recording("ann"), recording("bob"));
    let path = files.write("a.csv", &text);
    for window in [None, Some(Window { samples: 5, stride: 5 })] {
        let options = ReadOptions { window, group: Some("who".into()), ..regression() };
        let table = read(&path, &options).unwrap();
        let told: Vec<String> = table.schema.warnings.iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains("(`time`) never falls"), "{told:?}");
        let ungrouped = ReadOptions { group: None, ..options };
        let told = read(&path, &ungrouped).unwrap().schema.warnings;
        assert!(told.is_empty(), "{told:?}");
    }
    // Nor does it matter whether there is a header.
    let bare = files
        .write("b.csv", text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>());
    let options = ReadOptions { group: Some("1".into()), ..regression() };
    let told: Vec<String> =
        read(&bare, &options).unwrap().schema.warnings.iter().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].contains("never falls"), "{told:?}");
}
