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

/// `koan train`, and `koan shrink` of what it made.
pub struct Experiment {
    /// Seeds to run, from 1.
    pub seeds: u32,
    pub train: String,
    pub shrink: Option<String>,
}

/// The sizes that a `koan shrink` is asked for.
pub fn sizes(shrink: &str) -> Vec<&str> {
    let mut words = shrink.split_whitespace().skip_while(|&word| word != "--flash");
    words.nth(1).map(|sizes| sizes.split(',').collect()).unwrap_or_default()
}

fn experiment(seeds: u32, data: &str, train: &str, shrink: &str) -> Experiment {
    let train = format!("train {data} {train} -s SEED -o m.koan");
    let shrink = (!shrink.is_empty()).then(|| format!("shrink m.koan {data} {shrink} -o s.koan"));
    Experiment { seeds, train, shrink }
}

/// All of them.
pub fn parts() -> Vec<Part> {
    let mnist =
        "$DATA/mnist/train-images-idx3-ubyte.gz --test $DATA/mnist/t10k-images-idx3-ubyte.gz";
    let digits = "$DIGITS/train.csv --test $DIGITS/test.csv";
    let adult = "$DATA/adult/a9a.gz --test $DATA/adult/a9a.t.gz";
    let cpu_act = "$DATA/cpu_act/cpu_act.tsv.gz";
    let wisdm = "$DATA/har_wisdm/WISDM_ar_v1.1_transformed.arff.gz";
    let recordings = "--group file --drop time,subject --window 128 --no-column-names --folds 5";
    let mnist_pool = "--bits 2 --candidates 4096";
    vec![
        Part {
            name: "mnist",
            title: "MNIST, 60,000 rows to train, 10,000 to test",
            note: "The frequency of the convolutions was set by hand. The last commands have no \
                   convolutions.",
            experiments: vec![
                experiment(
                    3,
                    mnist,
                    "--family conv -k 64 -b 3 --frequency 0.6",
                    &format!("--flash 1100,3200,6000 {mnist_pool}"),
                ),
                experiment(
                    1,
                    mnist,
                    "--family conv -k 64 -b 3 --frequency 0.6 --filter-stride 2",
                    &format!("--flash 3200,6000 {mnist_pool}"),
                ),
                experiment(
                    3,
                    mnist,
                    "--family fourier --projection hadamard --map shared -k 512 -b 3",
                    &format!("--flash 4600 {mnist_pool}"),
                ),
            ],
        },
        Part {
            name: "digits",
            title: "Digits, 1,200 rows to train, 597 to test",
            note: "`koan demo --rows $DIGITS/test.csv --train-rows $DIGITS/train.csv` writes the \
                   rows.",
            experiments: vec![experiment(
                3,
                digits,
                "--task classification --family conv --shape 8x8x1 -k 160 -b 4 --no-column-names",
                "--flash 500,1000 --bits 2,3,4 --candidates 512,1024,2048 --loss squared",
            )],
        },
        Part {
            name: "adult",
            title: "Census income (adult), 32,561 rows to train, 16,281 to test",
            note: "",
            experiments: vec![experiment(
                3,
                adult,
                "--family fourier --projection hadamard --map shared -k 400 -b 4",
                "--flash 350 --bits 3,4 --candidates 1024,2048 --loss squared",
            )],
        },
        Part {
            name: "har_wisdm",
            title: "Activities (har_wisdm), 4,334 rows to train, 1,084 to test",
            note: "",
            experiments: vec![experiment(
                3,
                wisdm,
                "--missing impute --no-column-names --family fourier -k 600 -b 4",
                "--flash 1300,4400 --bits 3,4 --candidates 2048 --loss squared",
            )],
        },
        Part {
            name: "cpu_act",
            title: "CPU activity (cpu_act), relative RMS error, 6,500 rows to train, 1,692 to test",
            note: "",
            experiments: vec![
                experiment(3, cpu_act, "--train-rows 6500 -k 300 -b 4", ""),
                experiment(
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
            note: "Means over five parts of whole recordings, stratified; the parts depend on the \
                   seed, and forests are judged on the very same ones; kernel and frequency were \
                   chosen by these errors. A forest sees 24 statistics of a window, which \
                   someone had to think of; koan sees the samples. har_trees is the example \
                   of emlearn-micropython, which published these sets.",
            experiments: vec![experiment(
                10,
                "$DATA/har_emlearn/har_exercise_1.csv.gz",
                &format!(
                    "{recordings} --stride 32 --family conv --kernel 12 --dilated -k 160 -b 2 \
                     --frequency 3.5 --candidates 512"
                ),
                "",
            )],
        },
        Part {
            name: "gestures",
            title: "Gestures (har_emlearn), 95 windows of raw acceleration",
            note: "As the exercises.",
            experiments: vec![experiment(
                10,
                "$DATA/har_emlearn/cgestures.csv.gz",
                &format!("{recordings} --stride 64 --family conv -k 64 -b 3 --loss logistic"),
                "",
            )],
        },
    ]
}
