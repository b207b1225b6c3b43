//! A test's operator works in the test's namespaces, and in no other, unless it is told otherwise.

use anyhow::Result;
use kube::{Api, api::PostParams};
use operator_core::{
    Operator, WatchScope,
    testing::{TestCluster, TestOperator, operator_test},
};

use integration_tests::{Script, TestObject, TestResource, cluster};

/// Two tests that don't know of each other, on one cluster.
struct Test {
    cluster: TestCluster,
    namespace: String,
    script: Script,
}

impl Test {
    async fn new() -> Result<Self> {
        let cluster = cluster().await?;
        let namespace = cluster.namespace("test-namespaces").await?;
        Ok(Self { cluster, namespace, script: Script::idle() })
    }

    async fn create(&self, name: &str) -> Result<()> {
        let objects = Api::<TestResource>::namespaced(self.cluster.client()?, &self.namespace);
        objects.create(&PostParams::default(), &TestResource::named(name, "1")).await?;
        Ok(())
    }
}

/// How often the objects of the two tests were reconciled.
fn runs(script: &Script) -> [usize; 2] {
    ["one", "two"].map(|name| script.runs.of(name).len())
}

#[operator_test]
async fn operators_of_two_tests_do_not_meet() -> Result<()> {
    let (one, two) = (Test::new().await?, Test::new().await?);
    let start = async |test: &Test| {
        let operator = test.cluster.connect(Operator::builder()).register(test.script.controller());
        TestOperator::start(operator).await
    };
    let (first, second) = (start(&one).await?, start(&two).await?);
    one.create("one").await?;
    two.create("two").await?;
    first.settled().await?;
    second.settled().await?;
    assert_eq!(runs(&one.script), [1, 0]);
    assert_eq!(runs(&two.script), [0, 1]);
    Ok(())
}

#[operator_test]
async fn an_operator_that_names_namespaces_works_there() -> Result<()> {
    let (one, two) = (Test::new().await?, Test::new().await?);
    let everywhere = one.cluster.connect(Operator::builder()).namespaces([&*one.namespace, &*two.namespace]);
    let running = TestOperator::start(everywhere.register(one.script.controller())).await?;
    let own = Script::idle();
    let of_controller = one.cluster.connect(Operator::builder().namespaces([&*two.namespace]));
    let of_controller = of_controller.register(own.controller().namespaces([&*one.namespace]));
    let other = TestOperator::start(of_controller).await?;
    one.create("one").await?;
    two.create("two").await?;
    running.settled().await?;
    other.settled().await?;
    assert_eq!(runs(&one.script), [1, 1], "what the operator says is for controllers that say nothing");
    assert_eq!(runs(&own), [1, 0], "what a controller says wins");
    Ok(())
}

/// Without a server: what can't be is told when the operator is built.
#[test]
fn an_operator_without_namespaces_is_a_mistake() {
    let controller = || Script::<TestResource>::idle().controller();
    let built = Operator::builder().namespaces([""; 0]).register(controller()).build();
    let error = built.expect_err("it would never run").to_string();
    assert!(error.contains("the operator watches no namespace"), "{error}");
    Operator::builder().namespaces(WatchScope::All).register(controller()).build().expect("all is right");
}
