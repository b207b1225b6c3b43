//! The programs of README and book that are compared with kube-rs: they are built, counted, and run on an API server in
//! the process. The plays are in `plays`.

use std::{fs, process::ExitCode};

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_core::controller::IntoController;

use crate::{Beside, block, lines, rendered, repository};

/// A task, where its program stands, what the lines of which are one each, and how many it may take.
struct Task {
    name: &'static str,
    heading: &'static str,
    children: &'static [&'static str],
    at_most: usize,
}

const PAGE: &str = "docs/src/beside-kube-rs.md";

/// The page of the programs that have records outside the cluster.
const PAGE_OF_RECORDS: &str = "docs/src/records.md";

/// The client that these programs use, as a file beside them.
const DNS: &str = "integration-tests/tests/readme/programs/dns.rs";

/// What two programs on kube-rs alone have in common, as a file beside them.
const SHARED: &str = "integration-tests/tests/readme/kube_rs/page.rs";

/// The sample's operator on kube-rs alone.
const WEBPAGE: &str = "integration-tests/tests/readme/kube_rs/webpage";

/// The other sample's operator on kube-rs alone.
const STORE: &str = "integration-tests/tests/readme/kube_rs/store";

const TASKS: [Task; 6] = [
    Task { name: "readme", heading: "the README's operator", children: &["map"], at_most: 18 },
    Task {
        name: "three_children",
        heading: "three children",
        children: &["html", "web", "address"],
        at_most: 45,
    },
    Task {
        name: "optional_child",
        heading: "## A kind that may be missing",
        children: &["html", "web", "address", "certificate"],
        at_most: 51,
    },
    Task {
        name: "explicit_part",
        heading: "## Explicit, in part, with data",
        children: &["migration", "web"],
        // Of these 14 are what `lines.rs` counts: what is declared of the controller, and its reconciler.
        at_most: 68,
    },
    Task {
        name: "two_controllers",
        heading: "## Two controllers",
        children: &["settings", "quota"],
        at_most: 22,
    },
    Task { name: "external_record", heading: "## A record outside the cluster", children: &[], at_most: 42 },
];

/// The program on that page alone. It differs from the other one in little, so it has no counterpart on kube-rs alone.
const SEVERAL: Task =
    Task { name: "external_records", heading: "## Several records", children: &[], at_most: 48 };

fn source(path: &str) -> Result<String> {
    let file = repository().join(path);
    fs::read_to_string(&file).with_context(|| file.display().to_string())
}

/// Our program: as the book has it.
fn ours(task: &Task) -> Result<String> {
    Ok(match task.name {
        "readme" => block(&source("README.md")?, "## An operator", "rust")?.to_owned(),
        "three_children" => block(&source("docs/src/functions.md")?, "## The program", "rust")?.to_owned(),
        "external_record" => block(&source(PAGE_OF_RECORDS)?, "## The program", "rust")?.to_owned(),
        "external_records" => block(&source(PAGE_OF_RECORDS)?, task.heading, "rust")?.to_owned(),
        _ => block(&source(PAGE)?, task.heading, "rust")?.to_owned(),
    })
}

/// Our program as it is run.
fn path(task: &Task) -> String {
    format!("integration-tests/tests/readme/programs/{}.rs", task.name)
}

/// All that are counted, and whether they need names of `operator_core::dependent` beyond the prelude.
pub(crate) fn paths() -> impl Iterator<Item = (String, bool)> {
    TASKS.iter().chain([&SEVERAL]).map(|task| (path(task), has_records(task)))
}

fn has_records(task: &Task) -> bool {
    task.name.starts_with("external")
}

fn theirs(task: &Task) -> Result<String> {
    let program = source(&format!("integration-tests/tests/readme/kube_rs/{}.rs", task.name))?;
    let shared = "include!(\"page.rs\");\n";
    Ok(match program.split_once(shared) {
        Some((before, after)) => format!("{before}{}{after}", source(SHARED)?),
        None => program,
    })
}

/// The row that the page has not.
fn lacks(page: &str, name: &str, (ours, theirs): (usize, usize)) -> Option<String> {
    let (name, row) = (name.to_lowercase(), format!("| {ours} | {theirs} |"));
    let stands = page.lines().any(|line| line.to_lowercase().contains(&name) && line.ends_with(&row));
    (!stands).then(|| format!("a row for `{name}` that ends with {row}"))
}

#[test]
fn the_page_has_the_programs_that_are_run_and_their_lines() -> Result<()> {
    let page = source(PAGE)?;
    let mut missing = Vec::new();
    for task in &TASKS {
        let program = ours(task)?;
        let run = source(&path(task))?;
        ensure!(run == program, "{} is not as it stands in README and book", task.name);
        let (ours, theirs) = (
            lines::lines(&program, task.children)?,
            // The same children, as far as it has functions of these names.
            lines::lines(&theirs(task)?, task.children)?,
        );
        ensure!(ours <= task.at_most, "{} takes {ours} lines, and may take {}", task.name, task.at_most);
        missing.extend(lacks(&page, task.heading.trim_start_matches("## "), (ours, theirs)));
    }
    let theirs = source(&format!("{WEBPAGE}/style.rs"))?;
    let lines = (lines::managed_style()?, lines::lines(&theirs, &[])?);
    missing.extend(lacks(&page, "the sample in its managed style", lines));
    let theirs = source(&format!("{STORE}/operator.rs"))?;
    let lines = (lines::store()?, lines::lines(&theirs, &[])?);
    missing.extend(lacks(&page, "the sample for production", lines));
    ensure!(missing.is_empty(), "{PAGE} lacks {}", missing.join(", and "));
    Ok(())
}

#[test]
fn the_page_of_records_has_its_programs_and_their_lines() -> Result<()> {
    let page = source(PAGE_OF_RECORDS)?;
    ensure!(source(&path(&SEVERAL))? == ours(&SEVERAL)?, "{} is not as it stands in the book", SEVERAL.name);
    for task in TASKS.iter().chain([&SEVERAL]).filter(|task| has_records(task)) {
        let lines = lines::lines(&ours(task)?, task.children)?;
        ensure!(lines <= task.at_most, "{} takes {lines} lines, and may take {}", task.name, task.at_most);
        let told = format!("{lines} lines");
        ensure!(page.contains(&told), "{PAGE_OF_RECORDS} doesn't say that {} takes {told}", task.name);
    }
    let client = format!("<!-- from {DNS} -->");
    ensure!(page.contains(&client), "{PAGE_OF_RECORDS} doesn't include {DNS}");
    Ok(())
}

#[test]
fn the_page_shows_each_task_on_kube_rs_alone() -> Result<()> {
    let page = source(PAGE)?;
    let tasks = TASKS.iter().map(|task| format!("integration-tests/tests/readme/kube_rs/{}.rs", task.name));
    let theirs = ["children", "style", "main"].map(|file| format!("{WEBPAGE}/{file}.rs"));
    let ours = ["page", "children", "dependents", "styles/managed"]
        .map(|file| format!("samples/webpage/src/{file}.rs"));
    let store = [format!("{STORE}/operator.rs"), format!("{STORE}/main.rs")];
    for path in tasks.chain(theirs).chain(ours).chain(store).chain([SHARED.to_owned()]) {
        ensure!(page.contains(&format!("<!-- from {path} -->")), "{PAGE} doesn't include {path}");
        ensure!(repository().join(&path).is_file(), "there is no {path}");
    }
    Ok(())
}

#[test]
fn the_programs_and_those_on_kube_rs_alone_build() -> Result<()> {
    let repository = repository().canonicalize()?;
    let beside = Beside::new(&repository, "measures")?;
    let manifest = beside.package.join("Cargo.toml");
    // What a user of kube-rs alone needs besides.
    let plain = "kube = { version = \"5\", default-features = false, features = [\"derive\"] }";
    let alone = "kube = { version = \"5\", default-features = false, features = [\"client\", \"derive\", \"runtime\"] }\nfutures = \"0.3\"\nthiserror = \"2\"\nrand = { version = \"0.10\", default-features = false, features = [\"std\", \"std_rng\", \"thread_rng\"] }";
    let text = fs::read_to_string(&manifest)?;
    ensure!(text.contains(plain), "the README asks for another kube");
    fs::write(&manifest, text.replacen(plain, alone, 1))?;
    let bins = beside.package.join("src/bin");
    fs::create_dir_all(&bins)?;
    let write = |name: &str, program: String, has_records: bool| -> Result<()> {
        let folder = bins.join(name);
        fs::create_dir_all(&folder)?;
        if has_records {
            fs::write(folder.join("dns.rs"), source(DNS)?)?;
        }
        Ok(fs::write(folder.join("main.rs"), program)?)
    };
    for task in &TASKS {
        write(task.name, ours(task)?, has_records(task))?;
        write(&format!("{}_kube_rs", task.name), theirs(task)?, has_records(task))?;
    }
    write(SEVERAL.name, ours(&SEVERAL)?, true)?;
    // The sample's own types, and all else on kube-rs alone.
    let sample = bins.join("webpage_kube_rs");
    fs::create_dir_all(&sample)?;
    for file in ["main.rs", "children.rs", "style.rs"] {
        fs::write(sample.join(file), source(&format!("{WEBPAGE}/{file}"))?)?;
    }
    fs::write(sample.join("page.rs"), source("samples/webpage/src/page.rs")?)?;
    let sample = bins.join("store_kube_rs");
    fs::create_dir_all(&sample)?;
    for file in ["main.rs", "operator.rs"] {
        fs::write(sample.join(file), source(&format!("{STORE}/{file}"))?)?;
    }
    for file in ["types.rs", "children.rs", "outside.rs"] {
        fs::write(sample.join(file), source(&format!("samples/store/src/{file}"))?)?;
    }
    let said = beside.check()?;
    ensure!(said.is_empty(), "{}", rendered(&said));
    Ok(())
}

/// Replaces the program's `Operator`: its `main` runs it on a server in the process, and looks at the results.
struct Staged(OperatorBuilder);

impl Staged {
    fn register(self, controller: impl IntoController) -> Self {
        Self(self.0.register(controller))
    }

    /// The failure, as the test shows it.
    async fn on_stage(
        self,
        definitions: Vec<CustomResourceDefinition>,
        play: impl AsyncFnOnce(&TestCluster, Client) -> Result<()>,
    ) -> ExitCode {
        let played = self.played(definitions, play).await;
        assert!(played.is_ok(), "{played:?}");
        ExitCode::SUCCESS
    }

    async fn played(
        self,
        definitions: Vec<CustomResourceDefinition>,
        play: impl AsyncFnOnce(&TestCluster, Client) -> Result<()>,
    ) -> Result<()> {
        let cluster = TestCluster::in_process();
        cluster.install_crds(definitions).await?;
        let operator = TestOperator::start_unsynced(cluster.connect(self.0)).await?;
        play(&cluster, cluster.client()?).await?;
        operator.stop().await;
        Ok(())
    }
}

/// A program under this name, whose `main` plays that.
macro_rules! staged {
    ($name:ident, $file:literal, [$($primary:ident),*], $play:expr) => {
        #[allow(clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
        mod $name {
            /// Comes before that of the prelude.
            struct Operator;
            struct Stage(super::Staged);

            impl Operator {
                fn builder() -> Stage {
                    Stage(super::Staged(operator_core::Operator::builder()))
                }
            }

            impl Stage {
                fn register(self, controller: impl operator_core::controller::IntoController) -> Self {
                    Self(self.0.register(controller))
                }

                async fn main(self) -> std::process::ExitCode {
                    let definitions = vec![$(<$primary as kube::CustomResourceExt>::crd()),*];
                    self.0.on_stage(definitions, $play).await
                }
            }

            include!($file);

            #[test]
            fn it_does_what_the_book_says() {
                assert_eq!(main(), std::process::ExitCode::SUCCESS);
            }
        }
    };
}

staged!(readme, "programs/readme.rs", [Greeting], crate::plays::a_greeting_keeps_its_map);
staged!(three_children, "programs/three_children.rs", [Page], crate::plays::a_page_has_three_children);
staged!(optional_child, "programs/optional_child.rs", [Page], crate::plays::a_page_is_published);
staged!(explicit_part, "programs/explicit_part.rs", [Site], crate::plays::a_site_is_migrated);
staged!(two_controllers, "programs/two_controllers.rs", [], crate::plays::settings_are_copied);
staged!(external_record, "programs/external_record.rs", [Host], async |cluster, client| {
    let provider = crate::plays::Provider { shown: dns::shown, change_by_hand: dns::change_by_hand };
    crate::plays::a_host_has_a_record(cluster, client, provider).await
});
staged!(external_records, "programs/external_records.rs", [Zone], async |cluster, client| {
    let provider = crate::plays::Provider { shown: dns::shown, change_by_hand: dns::change_by_hand };
    crate::plays::a_zone_has_a_record_for_each_host(cluster, client, provider).await
});
