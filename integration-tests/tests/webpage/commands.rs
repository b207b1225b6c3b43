//! The commands, as a user calls them.

use operator_core::testing::{Profile, TestCluster};

use crate::support::{Running, webpage, wrong};

#[tokio::test]
async fn graph_prints_what_is_declared() -> anyhow::Result<()> {
    let printed = async |arguments: &[&str]| {
        let output = webpage(arguments).output().await?;
        assert!(output.status.success());
        anyhow::Ok(String::from_utf8(output.stdout)?)
    };
    let text = "\
webpage-operator (WebPage)
  html [optional]
    web
    service
      ingress [optional]
  depth 3; deleted by the garbage collector, in any order
";
    assert_eq!(printed(&["graph"]).await?, text);
    let mermaid = printed(&["graph", "--style", "standalone", "--format", "mermaid"]).await?;
    assert!(
        mermaid.contains("flowchart TD")
            && mermaid.contains("n2[\"service\"]")
            && mermaid.contains("n2 --> n3"),
        "{mermaid}"
    );
    let removes = printed(&["graph", "--removes", "service"]).await?;
    let goes = "if service isn't wanted, this is removed, one after the other:\n  service\n\
        once this was brought about without it:\n  ingress\n";
    assert_eq!(removes, format!("webpage-operator: {goes}"));
    let wrong = webpage(&["graph", "--removes", "servce"]).output().await?;
    assert_eq!(wrong.status.code(), Some(64));
    assert!(
        String::from_utf8(wrong.stderr)?.contains("no workflow has a node `servce`; did you mean `service`?")
    );
    let low_level = printed(&["graph", "--style", "low-level"]).await?;
    assert_eq!(low_level, "webpage-operator (WebPage): no workflow\n");
    Ok(())
}

#[tokio::test]
async fn wrong_use_has_a_code_of_its_own() -> anyhow::Result<()> {
    let unknown = webpage(&["dev", "--style", "baroque"]).output().await?;
    assert_eq!(unknown.status.code(), Some(64));
    assert!(String::from_utf8(unknown.stderr)?.contains("managed, standalone, low-level"));
    let wrong = webpage(&["rune"]).output().await?;
    assert_eq!(wrong.status.code(), Some(64));
    assert!(wrong.stdout.is_empty());
    let help = webpage(&["--help"]).output().await?;
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8(help.stdout)?.contains("dev"));
    Ok(())
}

/// The report about the binary with mistakes.
const MISTAKES: &str = "\
✖ controller `pages`: it allows 0 runs at the same time
  why   no run could ever start
  write `.max_concurrent_reconciles(1)` or more, or leave it out for 50
✖ controller `pages`: node `html` reads from an event source `maps`
  why   the controller has no event source at all, and none with that name
  write `.watches(InformerEventSource::<ConfigMap>::new().name(\"maps\"))` on the controller, or the name of a source that it has
✖ controller `Others`: its name can't be used
  why   it becomes the field manager: lower-case letters, digits, `-`, `.` and `_`
  write `.name(\"others\")`
";

#[tokio::test]
async fn every_command_tells_all_mistakes_of_a_declaration_and_ends_with_78() -> anyhow::Result<()> {
    let commands: &[&[&str]] =
        &[&["graph"], &["crd"], &["dev"], &["dev", "--control-plane", "--once"], &["run"], &[]];
    for command in commands {
        // There is no cluster, so that whoever looks for one first says something else.
        let output = wrong(command)
            .env("KUBECONFIG", "/nonexistent")
            .env_remove("KUBERNETES_SERVICE_HOST")
            .output()
            .await?;
        assert_eq!(output.status.code(), Some(78), "{command:?}");
        assert_eq!(String::from_utf8(output.stderr)?, MISTAKES, "{command:?}");
        assert!(output.stdout.is_empty(), "{command:?}");
    }
    assert_eq!(wrong(&["--help"]).output().await?.status.code(), Some(0));
    Ok(())
}

#[tokio::test]
async fn without_a_cluster_run_says_what_to_do() -> anyhow::Result<()> {
    let run =
        webpage(&["run"]).env("KUBECONFIG", "/nonexistent").env_remove("KUBERNETES_SERVICE_HOST").output();
    let run = run.await?;
    assert_eq!(run.status.code(), Some(1));
    let said = String::from_utf8(run.stderr)?;
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() == 3 && lines[0].contains("no cluster is configured"), "{said}");
    assert!(lines[1].contains("why") && lines[2].contains("export KUBECONFIG="), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_missing_crd_is_said_once_and_healed_by_installing_it() -> anyhow::Result<()> {
    let cluster = TestCluster::shared_with(Profile::ApiServer).await?;
    let Some(kubeconfig) = cluster.control_plane()?.kubeconfig() else { return Ok(()) };
    let mut command = webpage(&["run", "--log", "json"]);
    command.env("KUBECONFIG", kubeconfig);
    let mut run = Running::start(command)?;
    run.says("cluster: control-plane (https://127.0.0.1:").await?;
    assert_eq!(run.said.len(), 1, "it is the first line: {:?}", run.said);
    run.says("install the CustomResourceDefinition `webpages.sample.operator-core.io`").await?;
    assert!(run.is_running()?);

    let crd = webpage(&["crd"]).output().await?;
    cluster.apply_yaml("default", &String::from_utf8(crd.stdout)?).await?;
    run.says("all caches are synced").await?;
    run.signal("TERM").await?;
    assert_eq!(run.ended().await?.code(), Some(0));
    let advice = run.said.iter().filter(|line| line.contains("install the CustomResourceDefinition")).count();
    assert_eq!(advice, 1, "{:#?}", run.said);
    Ok(())
}
