//! The commands whose models are measured.

/// A data set.
pub struct Part {
    /// How it is called on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// What a reader should know beside the figures.
    pub note: &'static str,
    pub experiments: Vec<Experiment>,
}

/// `koan train` for each size, which searches; or, by hand, `koan train` and `koan shrink` of
/// what it made.
pub struct Experiment {
    /// Seeds to run, from 1.
    pub seeds: u32,
    pub train: String,
    pub shrink: Option<String>,
    /// What stands for BYTES in `train`, one after the other; none where it has no BYTES.
    pub sizes: Vec<u32>,
}

/// The sizes that a `koan shrink` is asked for.
pub fn sizes(shrink: &str) -> Vec<&str> {
    let mut words = shrink.split_whitespace().skip_while(|&word| word != "--flash");
    words.nth(1).map(|sizes| sizes.split(',').collect()).unwrap_or_default()
}

/// The obvious command: all that a user says is what the data are and how many bytes there are.
fn searched(seeds: u32, data: &str, sizes: &[u32]) -> Experiment {
    let train = format!("train {data} --flash BYTES -s SEED -o m.koan");
    Experiment { seeds, train, shrink: None, sizes: sizes.to_vec() }
}

fn by_hand(seeds: u32, data: &str, train: &str, shrink: &str) -> Experiment {
    let train = format!("train {data} {train} -s SEED -o m.koan");
    let shrink = (!shrink.is_empty()).then(|| format!("shrink m.koan {data} {shrink} -o s.koan"));
    Experiment { seeds, train, shrink, sizes: Vec::new() }
}

/// All of them.
pub fn parts() -> Vec<Part> {
    let mnist =
        "$DATA/mnist/train-images-idx3-ubyte.gz --test $DATA/mnist/t10k-images-idx3-ubyte.gz";
    let convolutions = "--family conv --loss logistic -b 2 --candidates 4096";
    let digits = "$DIGITS/train.csv --test $DIGITS/test.csv";
    let adult = "$DATA/adult/a9a.gz --test $DATA/adult/a9a.t.gz";
    let cpu_act = "$DATA/cpu_act/cpu_act.tsv.gz";
    let wisdm = "$DATA/har_wisdm/WISDM_ar_v1.1_transformed.arff.gz";
    let recordings = "--group file --drop time,subject --window 128 --no-column-names --folds 5";
    let exercises = format!("$DATA/har_emlearn/har_exercise_1.csv.gz {recordings} --stride 32");
    let gestures = format!("$DATA/har_emlearn/cgestures.csv.gz {recordings} --stride 64");
    vec![
        Part {
            name: "mnist",
            title: "MNIST, 60,000 rows to train, 10,000 to test",
            note: "By hand the pool to choose features from is larger than what the obvious command \
                   has time for, and all weights have 2 bits. The last commands have no \
                   convolutions.",
            experiments: vec![
                searched(1, mnist, &[1100, 3200, 6000]),
                by_hand(3, mnist, &format!("{convolutions} -k 295"), ""),
                by_hand(3, mnist, &format!("{convolutions} -k 1040"), ""),
                by_hand(
                    3,
                    mnist,
                    "--family fourier --projection hadamard --map shared -k 512 -b 3",
                    "--flash 4600 --bits 2 --candidates 4096",
                ),
            ],
        },
        Part {
            name: "digits",
            title: "Digits, 1,200 rows to train, 597 to test",
            note: "`koan demo --rows $DIGITS/test.csv --train-rows $DIGITS/train.csv` writes the \
                   rows.",
            experiments: vec![
                searched(3, &format!("{digits} --no-column-names"), &[500, 1000]),
                by_hand(
                    3,
                    digits,
                    "--task classification --family conv --shape 8x8x1 -k 160 -b 4 \
                     --no-column-names",
                    "--flash 500,1000 --bits 2,3,4 --candidates 512,1024,2048 --loss squared",
                ),
            ],
        },
        Part {
            name: "adult",
            title: "Census income (adult), 32,561 rows to train, 16,281 to test",
            note: "The search looks at bytes; `--instructions` bounds what a prediction takes.",
            experiments: vec![
                searched(3, adult, &[350]),
                by_hand(
                    3,
                    adult,
                    "--family fourier --projection hadamard --map shared -k 400 -b 4",
                    "--flash 350 --bits 3,4 --candidates 1024,2048 --loss squared",
                ),
            ],
        },
        Part {
            name: "har_wisdm",
            title: "Activities (har_wisdm), 4,334 rows to train, 1,084 to test",
            note: "",
            experiments: vec![
                searched(3, &format!("{wisdm} --missing impute --no-column-names"), &[1300, 4400]),
                by_hand(
                    3,
                    wisdm,
                    "--missing impute --no-column-names --family fourier -k 600 -b 4",
                    "--flash 1300,4400 --bits 3,4 --candidates 2048 --loss squared",
                ),
            ],
        },
        Part {
            name: "cpu_act",
            title: "CPU activity (cpu_act), relative RMS error, 6,500 rows to train, 1,692 to test",
            note: "",
            experiments: vec![
                searched(
                    3,
                    &format!("{cpu_act} --train-rows 6500 --no-column-names"),
                    &[300, 527, 600],
                ),
                by_hand(
                    3,
                    cpu_act,
                    "--train-rows 6500 -k 300 -b 4 --no-column-names",
                    "--test-fraction 0.2065 --flash 300,600 --candidates 1024 --bits 4,8",
                ),
            ],
        },
        Part {
            name: "exercises",
            title: "Exercises (har_emlearn), 896 windows of raw acceleration",
            note: "Means over five parts of whole recordings, stratified, each of which is tested \
                   by a model that was searched on the four others; the parts depend on the \
                   seed, and forests are judged on the very same ones. A forest sees 24 \
                   statistics of a window, which someone had to think of; koan sees the samples. \
                   har_trees is the example of emlearn-micropython, which published these sets.",
            experiments: vec![searched(3, &exercises, &[400])],
        },
        Part {
            name: "gestures",
            title: "Gestures (har_emlearn), 95 windows of raw acceleration",
            note: "As the exercises.",
            experiments: vec![searched(10, &gestures, &[260])],
        },
    ]
}
