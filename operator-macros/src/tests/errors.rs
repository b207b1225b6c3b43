//! Mistakes: what is said, and where.

use super::{is_as_before, mistakes};
use crate::controller_configuration;

#[test]
fn of_a_controller() {
    is_as_before(
        "mistakes_of_a_controller",
        &mistakes(
            controller_configuration::generate,
            r#"
        #[controller(
            primary = "WebPage",
            nam = "pages",
            zzz = 1,
            finalizer = 7,
            generation_aware = "no",
            max_concurrent_reconciles = "ten",
            jitter = "a little",
            max_reconciliation_interval = "10 lightyears",
            reconcile_timeout = "-3s",
            namespaces = "default",
            retry(max_atempts = 5, multiplier = "two", initial_interval = 2),
            no_retry,
            rate_limiter(limit = 10),
            owns = ConfigMap,
            watches,
            configure,
            index("team"),
            index = by_team,
            refers_to(secrets),
            refers_to::<Secret>,
            watches_referenced::<Secret>(secrets),
            label_selector::<u8>("a"),
            cleaner,
            name = ,
            name = "a",
            name = "b",
        )]
        struct WebPageReconciler;
        "#,
        ),
    );
}

#[test]
fn of_literals_that_cannot_work() {
    is_as_before(
        "mistakes_of_literals",
        &mistakes(
            controller_configuration::generate,
            r#"
        #[controller(
            name = "WebPages",
            field_manager = "",
            finalizer = "finalizer",
            namespaces = [],
            max_concurrent_reconciles = 0,
            jitter = 2,
            max_reconciliation_interval = "0s",
            reconcile_timeout = "0ms",
            retry(initial_interval = "900us", max_interval = "0s", multiplier = 0.5),
            rate_limiter(limit = 0, per = "0s"),
        )]
        struct WebPageReconciler;
        "#,
        ),
    );
    let sound = r#"
        #[controller(
            name = "web-pages_2.example",
            field_manager = "Web/Pages",
            finalizer = "example.com/Pages",
            namespaces = ["a"],
            max_concurrent_reconciles = 1,
            jitter = 0,
            max_reconciliation_interval = "1ms",
            reconcile_timeout = "1ms",
            retry(initial_interval = "1ms", max_interval = "1ms", multiplier = 1),
            rate_limiter(limit = 1, per = "1us"),
        )]
        struct WebPageReconciler;
    "#;
    assert_eq!(mistakes(controller_configuration::generate, sound), "");
}

#[test]
fn a_circle_is_spelled_out() {
    is_as_before(
        "mistakes_a_circle_is_spelled_out",
        &mistakes(
            controller_configuration::generate,
            r#"
        #[workflow(
            a(after(c)),
            b(after(a)),
            c(after(b, d)),
            d(after(d)),
        )]
        struct WebPageReconciler;
        "#,
        ),
    );
}

#[test]
fn of_a_workflow_of_functions() {
    is_as_before(
        "mistakes_of_a_workflow_of_functions",
        &mistakes(
            controller_configuration::generate,
            r#"
        #[workflow(
            explicit_invocation = true,
            explicit_invocaton,
            handle_errors_in_reconciler,
            handle_errors_in_reconciler,
            "html",
            |page: &WebPage| map(page),
            move |page: &WebPage| map(page),
            Records { api: self.api.clone() },
            Records::new(self.api.clone()),
            a::records = Records,
            retired("keys"),
            retired::<Secret>,
            children::html,
            children::html,
            maps::html,
            named_html(named = "html"),
            records = Records::new(),
            other::records,
            service,
            service(named = "other"),
            w0(after(html)),
            w1(after(childen::html, servic, unheard::of)),
            w2(after("html", html(page), (service, w1), &records)),
            w3(after, ready, needs(), gone = x, adopt = y),
            w4(delete_first(now), ready_when_applied = true, named("x"), named, configure),
            w5(named = 5, aftr(w4), zzz, ready(a), ready(b)),
            w6(ready(|web| true), gone(|web, _: &WebPage| true)),
            w7 after(w6),
            w8(after(w9)),
            w9(after(w10, w11)),
            w10(after(w8)),
            w11(after(w11)),
        )]
        struct WebPages;
        "#,
        ),
    );
}
