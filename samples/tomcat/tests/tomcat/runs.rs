//! Single runs, without a cluster.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use operator_core::testing::DryRun;
use serde_json::{Value, json};
use tomcat::{Tomcat, TomcatStatus, War, tomcat as first, webapp as second};

use crate::{named, shop, url, webapp};

fn serving(wars: &[(&str, &str)]) -> Tomcat {
    let mut tomcat = shop(1);
    tomcat.metadata.namespace = Some("default".to_owned());
    let war = |(path, webapp): &(&str, &str)| {
        ((*path).to_owned(), War { webapp: (*webapp).to_owned(), url: url(webapp) })
    };
    let wars = wars.iter().map(war).collect();
    tomcat.status = Some(TomcatStatus { ready_replicas: 1, wars, ..TomcatStatus::default() });
    tomcat
}

#[test]
fn nothing_is_handed_to_a_tomcat_that_does_not_exist_or_does_not_serve() {
    let run = second::controller().dry_run(&webapp("a", "/a")).blocking();
    assert_eq!(run.writes(), ["apply Webapp/a/status"]);
    let mut tomcat = serving(&[]);
    tomcat.status = None;
    let run = second::controller().dry_run(&webapp("a", "/a")).known(&tomcat).blocking();
    assert_eq!(run.writes(), ["apply Webapp/a/status"]);
    assert_eq!(
        run.state(second::war).to_string(),
        "waiting for tomcat to be ready: no pod of the tomcat shop serves yet"
    );
}

#[test]
fn what_is_handed_over_is_ready_when_the_tomcat_says_so() {
    let run = second::controller().dry_run(&webapp("a", "/a")).known(&serving(&[])).blocking();
    assert_eq!(run.writes(), ["apply ConfigMap/a-war", "apply Webapp/a/status"]);
    assert_eq!(run.body("apply ConfigMap/a-war")["data"]["url"], url("a"));
    let status =
        |run: &operator_core::testing::Planned<_>| run.body("apply Webapp/a/status")["status"].clone();
    assert_eq!(status(&run)["address"], Value::Null);
    let again = run.again().known(&serving(&[("/a", "a")])).blocking();
    assert_eq!(status(&again)["address"], "http://shop.default/a");
}

#[test]
fn a_path_that_another_webapp_has_is_not_ready_and_says_whose_it_is() {
    let run = second::controller().dry_run(&webapp("a", "/x")).known(&serving(&[("/x", "b")])).blocking();
    assert_eq!(run.state(second::war).to_string(), "created, not ready: /x is served by the webapp b");
}

#[test]
fn a_path_that_is_no_container_s_name_is_held() {
    for path in ["shop", "/Shop", "/a/b", "/a b", "/shop-"] {
        let run = second::controller().dry_run(&webapp("a", path)).known(&serving(&[])).blocking();
        assert_eq!(run.writes(), ["apply Webapp/a/status"], "{path}");
        assert!(run.states()[1].starts_with("war: held: "), "{path}: {:?}", run.states());
    }
}

#[test]
fn a_war_that_keeps_a_tomcat_from_serving_can_be_replaced() {
    let run = second::controller().dry_run(&webapp("a", "/a")).known(&serving(&[("/a", "a")])).blocking();
    let mut repaired = run.primary().expect("it stays");
    repaired.spec.url = url("a-repaired");
    let mut broken = serving(&[("/a", "a")]);
    broken.status = Some(TomcatStatus::default());
    let run = run.again().known(&repaired).known(&broken).blocking();
    assert_eq!(run.body("apply ConfigMap/a-war")["data"]["url"], url("a-repaired"));
}

/// As the second controller makes it.
fn war(webapp: &str, path: &str, created: &str) -> ConfigMap {
    let mut map = ConfigMap { metadata: named(&format!("{webapp}-war")), ..ConfigMap::default() };
    map.metadata.labels = Some([(first::HANDED_TO.to_owned(), "shop".to_owned())].into());
    map.metadata.namespace = Some("default".to_owned());
    map.metadata.creation_timestamp = serde_json::from_value(json!(created)).expect("it is a time");
    let data = json!({ "webapp": webapp, "path": path, "url": url(webapp) });
    map.data = serde_json::from_value(data).expect("they are texts");
    map
}

#[test]
fn each_war_has_a_container_that_downloads_it_and_a_path_goes_to_the_eldest() {
    let wars = [
        war("a", "/x", "2026-01-01T00:00:02Z"),
        war("b", "/x", "2026-01-01T00:00:01Z"),
        war("c", "/", "2026-01-01T00:00:03Z"),
    ];
    let mut run = DryRun::of(first::controller().build().expect("it is declared well"), &shop(2));
    for war in &wars {
        run = run.known(war);
    }
    let run = run.blocking();
    let web = run.body("apply Deployment/shop");
    let downloads: Deployment = serde_json::from_value(web.clone()).expect("it is a Deployment");
    let pod = downloads.spec.and_then(|spec| spec.template.spec).expect("it has a pod");
    let downloads = pod.init_containers.unwrap_or_default();
    let downloads: Vec<_> = downloads
        .iter()
        .map(|download| (download.name.as_str(), download.args.clone().unwrap_or_default().concat()))
        .collect();
    let args =
        |file: &str, webapp: &str| format!("--fail--location--output/webapps/{file}.war--url{}", url(webapp));
    assert_eq!(downloads, [("war", args("ROOT", "c")), ("war-x", args("x", "b"))]);
}
