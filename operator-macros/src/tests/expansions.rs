//! Golden expansions.

use super::{both, expansion, is_as_before};
use crate::controller_configuration;

#[test]
fn a_controller_without_attributes_has_the_defaults() {
    is_as_before(
        "a_controller_without_attributes_has_the_defaults",
        &expansion(controller_configuration::generate, "struct WebPageReconciler;"),
    );
}

#[test]
fn a_controller_with_everything() {
    is_as_before(
        "a_controller_with_everything",
        &expansion(
            controller_configuration::generate,
            r#"
        #[controller(
            primary = WebPage,
            name = "pages",
            finalizer = "pages.example.com/finalizer",
            namespaces = ["a", TEAM],
            retry(max_attempts = 5, initial_interval = "2s", multiplier = 2, max_interval = "1m30s"),
            rate_limiter(limit = 10, per = "500ms"),
            max_reconciliation_interval = "10h",
            jitter = 0.05,
            reconcile_timeout = TIMEOUT,
            status = pages::status,
            paused_when = |page| page.spec.paused,
            max_concurrent_reconciles = 3,
            generation_aware = false,
            trigger_on_all_events,
            default_filters,
            on_add = |page| page.spec.exposed,
            owns(ConfigMap, Secret),
            watches = InformerEventSource::<Pod>::new(),
            watches_referenced(InformerEventSource::<Service>::new(), |page| page.services()),
            refers_to::<Secret>(secrets),
            refers_to::<crate::Site>(|page| page.sites()),
            index("team", by_team),
            index("site", |page| vec![page.spec.site.clone()]),
            cleaner = false,
            configure = |builder| builder.event_sources_of(&other),
        )]
        struct WebPageReconciler<T>(T);
        "#,
        ),
    );
}

/// The value is moved last, so the other expressions can use it.
#[test]
fn a_controller_whose_settings_use_the_reconciler() {
    is_as_before(
        "a_controller_whose_settings_use_the_reconciler",
        &expansion(
            controller_configuration::generate,
            r#"
        #[controller(
            primary = WebPage,
            name = self.name.clone(),
            watches = polled(self.api.clone()),
            index("team", self.by_team()),
            configure = |builder| builder.event_sources_of(&self.other),
        )]
        #[workflow(html)]
        struct WebPages {
            name: String,
            api: Api,
        }
        "#,
        ),
    );
}

#[test]
fn a_workflow_of_functions() {
    is_as_before(
        "a_workflow_of_functions",
        &expansion(
            controller_configuration::generate,
            r#"
        #[controller(primary = WebPage, name = "pages", formerly = ["sites", OLD])]
        #[workflow(
            handle_errors_in_reconciler,
            prune_data,
            retired::<Secret>("keys", OLD_NODE),
            children::html,
            web(after(children::html), ready(rolled_out, |page: &WebPage| page.spec.open)),
            records = Records { api: self.api.clone() },
            dns(after(records), named = "zone", gone(drained)) = Zone::new(8),
            service(after(web, records), needs(served::<Route>(), Mesh), delete_first),
            team::<Red>(named = "red", ready_when_applied, create_only, adopt(Adoption::IfUnowned)),
            gateway(kind(gateways()), when_served, cluster_scoped),
            <WebPage as Site>::page(prune_data, recreate_when_immutable, configure = |node| node.use_ssa(false)),
        )]
        struct WebPages;
        "#,
        ),
    );
}

#[test]
fn a_workflow_of_functions_without_a_primary_is_its_reconcilers() {
    is_as_before(
        "a_workflow_of_functions_of_a_reconciler",
        &expansion(
            controller_configuration::generate,
            "#[workflow(explicit_invocation, html, web(after(html), optional, use_ssa(false)))] struct WebPages;",
        ),
    );
}

#[test]
fn an_operator_test_for_both_servers() {
    is_as_before(
        "an_operator_test_for_both_servers",
        &both("", "async fn it_works() -> anyhow::Result<()> { Ok(()) }").0,
    );
    is_as_before(
        "an_operator_test_that_needs_the_real_server",
        &both(r#"real = "the audit log", flavor = "current_thread", crate = core"#, "async fn it_works() {}")
            .0,
    );
}

#[test]
fn mistakes_of_an_operator_test() {
    let mistakes = [
        both("rael = 1", "async fn it_works() {}").1,
        both(r#"flavor = "threads""#, "async fn it_works() {}").1,
        both("", "fn it_works<T>(cluster: TestCluster) {}").1,
        both("", "struct A;").1,
    ];
    is_as_before("mistakes_of_an_operator_test", &mistakes.concat());
}
