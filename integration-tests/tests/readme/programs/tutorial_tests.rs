#[cfg(test)]
mod tests {
    use kube::{Api, CustomResourceExt, api::PostParams};
    use operator_core::testing::{TestCluster, TestOperator};

    use super::*;

    fn hello() -> Greeting {
        Greeting::new("hello", GreetingSpec { text: "Hello".to_owned() })
    }

    /// One run, without a cluster.
    #[test]
    fn the_first_run_writes_all_of_it() {
        let run = greetings().dry_run(&hello()).blocking();
        assert_eq!(
            run.writes(),
            ["apply ConfigMap/hello-page", "apply Deployment/hello-web", "apply Greeting/hello/status"]
        );
    }

    /// The whole operator, on a server inside the process, under the account of its Deployment.
    #[tokio::test]
    async fn a_greeting_becomes_ready_and_the_role_is_enough() -> Result<()> {
        let cluster = TestCluster::in_process();
        cluster.install_crds([Greeting::crd()]).await?;
        cluster.apply_files("default", ["deploy/operator.yaml"]).await?;
        let account = cluster.config_as("system:serviceaccount:greeter:greeter", &[]);
        let running = TestOperator::start(cluster.connect(operator()).config(account)).await?;

        let greetings: Api<Greeting> = Api::namespaced(cluster.client()?, "default");
        greetings.create(&PostParams::default(), &hello()).await?;
        running.settled().await?;

        let status = greetings.get("hello").await?.status.unwrap_or_default();
        let ready = status.conditions.iter().find(|condition| condition.type_ == "Ready");
        assert_eq!(ready.map(|condition| &*condition.status), Some("True"));
        Ok(())
    }
}
