//! The programs of the book that are compared with kube-rs: they are built, counted, and run on an API server in the process.

use std::{fs, process::ExitCode};

use anyhow::{Context as _, Result, ensure};
use integration_tests::eventually;
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        batch::v1::Job,
        core::v1::{ConfigMap, Namespace, ResourceQuota, Service},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ApiResource, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use operator_core::{
    OperatorBuilder,
    controller::IntoController,
    testing::{TestCluster, TestOperator},
};
use serde_json::json;

use crate::{Beside, block, lines, repository};

/// A task, where its program stands, what the lines of which are one each, and how many it may take.
struct Task {
    name: &'static str,
    heading: &'static str,
    children: &'static [&'static str],
    at_most: usize,
}

const PAGE: &str = "docs/src/beside-kube-rs.md";

/// The sample's operator on kube-rs alone.
const WEBPAGE: &str = "integration-tests/tests/readme/kube_rs/webpage";

const TASKS: [Task; 5] = [
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
];

fn source(path: &str) -> Result<String> {
    let file = repository().join(path);
    fs::read_to_string(&file).with_context(|| file.display().to_string())
}

/// Our program: as the book has it.
fn ours(task: &Task) -> Result<String> {
    Ok(match task.name {
        "readme" => block(&source("README.md")?, "## An operator", "rust")?.to_owned(),
        "three_children" => block(&source("docs/src/functions.md")?, "## The program", "rust")?.to_owned(),
        _ => block(&source(PAGE)?, task.heading, "rust")?.to_owned(),
    })
}

fn theirs(task: &Task) -> Result<String> {
    source(&format!("integration-tests/tests/readme/kube_rs/{}.rs", task.name))
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
        if page.contains(task.heading) && task.heading.starts_with('#') {
            let run = source(&format!("integration-tests/tests/readme/programs/{}.rs", task.name))?;
            ensure!(run == program, "{} of {PAGE} is not what is run", task.name);
        }
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
    ensure!(missing.is_empty(), "{PAGE} lacks {}", missing.join(", and "));
    Ok(())
}

#[test]
fn the_programs_and_those_on_kube_rs_alone_build() -> Result<()> {
    let repository = repository().canonicalize()?;
    let beside = Beside::new(&repository, "measures")?;
    let manifest = beside.package.join("Cargo.toml");
    // What a user of kube-rs alone needs besides.
    let plain = "kube = { version = \"5\", default-features = false, features = [\"derive\"] }";
    let alone = "kube = { version = \"5\", default-features = false, features = [\"client\", \"derive\", \"runtime\"] }\nfutures = \"0.3\"\nthiserror = \"2\"";
    let text = fs::read_to_string(&manifest)?;
    ensure!(text.contains(plain), "the README asks for another kube");
    fs::write(&manifest, text.replacen(plain, alone, 1))?;
    let bins = beside.package.join("src/bin");
    fs::create_dir_all(&bins)?;
    for task in &TASKS {
        fs::write(bins.join(format!("{}.rs", task.name)), ours(task)?)?;
        fs::write(bins.join(format!("{}_kube_rs.rs", task.name)), theirs(task)?)?;
    }
    // The sample's own types, and all else on kube-rs alone.
    let sample = bins.join("webpage_kube_rs");
    fs::create_dir_all(&sample)?;
    for file in ["main.rs", "children.rs", "style.rs"] {
        fs::write(sample.join(file), source(&format!("{WEBPAGE}/{file}"))?)?;
    }
    fs::write(sample.join("page.rs"), source("samples/webpage/src/page.rs")?)?;
    let output = beside.cargo(&["check", "--quiet", "--bins"])?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.stderr.is_empty(), "warnings: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Stands in the place of the program's `Operator`: its `main` runs it on a server in the process, and looks at what it does.
struct Staged(OperatorBuilder);

impl Staged {
    fn register(self, controller: impl IntoController) -> Self {
        Self(self.0.register(controller))
    }

    /// What went wrong is what the test shows.
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

staged!(optional_child, "programs/optional_child.rs", [Page], super::a_page_is_published);
staged!(explicit_part, "programs/explicit_part.rs", [Site], super::a_site_is_migrated);
staged!(two_controllers, "programs/two_controllers.rs", [], super::settings_are_copied);

async fn a_page_is_published(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("optional-child").await?;
    let page = "apiVersion: example.com/v1\nkind: Page\nmetadata: { name: one }\nspec: { html: hello, published: true }";
    cluster.apply_yaml(&namespace, page).await?;
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    eventually("the page", async || Ok(maps.get_opt("one-html").await?)).await?;
    let services = Api::<Service>::namespaced(client, &namespace);
    eventually("its address", async || Ok(services.get_opt("one-address").await?)).await?;
    Ok(())
}

async fn a_site_is_migrated(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("explicit-part").await?;
    let site = "apiVersion: example.com/v1\nkind: Site\nmetadata: { name: one }\nspec: { image: site, frozen: true }";
    cluster.apply_yaml(&namespace, site).await?;
    let sites = Api::<DynamicObject>::namespaced_with(client.clone(), &namespace, &site_kind());
    let is_told = async || Ok(sites.get("one").await?.data.get("status").cloned());
    let told = eventually("the status", is_told).await?;
    ensure!(told == json!({ "ready": false }), "without a quota nothing is ready: {told}");
    let jobs = Api::<Job>::namespaced(client.clone(), &namespace);
    ensure!(jobs.get_opt("one-migration").await?.is_none(), "without a quota nothing is migrated");

    let quota = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: quota }\ndata: { pods: \"2\" }";
    cluster.apply_yaml(&namespace, quota).await?;
    let job = eventually("the migration", async || Ok(jobs.get_opt("one-migration").await?)).await?;
    ensure!(job.spec.and_then(|spec| spec.parallelism) == Some(2), "the data of the run is in the job");
    let at = "2026-01-01T00:01:00Z";
    let condition = |of: &str| json!({ "type": of, "status": "True", "lastTransitionTime": at });
    let conditions = [condition("SuccessCriteriaMet"), condition("Complete")];
    let done = json!({ "startTime": at, "completionTime": at, "succeeded": 1, "conditions": conditions });
    let done = Patch::Merge(json!({ "status": done }));
    jobs.patch_status("one-migration", &PatchParams::default(), &done).await?;
    eventually("what is remembered", async || {
        let remembers = |site: DynamicObject| site.annotations().contains_key("operator-core.io/done-jobs");
        Ok(remembers(sites.get("one").await?).then_some(()))
    })
    .await?;
    let webs = Api::<Deployment>::namespaced(client, &namespace);
    ensure!(webs.get_opt("one-web").await?.is_none(), "a frozen site is left as it is");

    let thaws = Patch::Merge(json!({ "spec": { "frozen": false } }));
    sites.patch("one", &PatchParams::default(), &thaws).await?;
    eventually("the server", async || Ok(webs.get_opt("one-web").await?)).await?;
    Ok(())
}

fn site_kind() -> ApiResource {
    let kind = GroupVersionKind::gvk("example.com", "v1", "Site");
    ApiResource::from_gvk_with_plural(&kind, "sites")
}

async fn settings_are_copied(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("two-controllers").await?;
    let teams = Namespace {
        metadata: ObjectMeta { name: Some("teams".to_owned()), ..ObjectMeta::default() },
        ..Namespace::default()
    };
    Api::all(client.clone()).create(&PostParams::default(), &teams).await?;
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: shop, labels: { team: red } }\nspec: { ports: [{ port: 80 }] }";
    cluster.apply_yaml(&namespace, service).await?;
    let quotas = Api::<ResourceQuota>::namespaced(client.clone(), &namespace);
    eventually("the quota", async || Ok(quotas.get_opt(&format!("{namespace}-quota")).await?)).await?;
    let copies = Api::<ConfigMap>::namespaced(client, &namespace);
    for value in ["first", "second"] {
        let set =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: red }}\ndata: {{ color: {value} }}");
        cluster.apply_yaml("teams", &set).await?;
        eventually("the copy", async || {
            let copy = copies.get_opt("shop-settings").await?;
            let color = copy.and_then(|copy| copy.data?.remove("color"));
            Ok((color.as_deref() == Some(value)).then_some(()))
        })
        .await?;
    }
    Ok(())
}
