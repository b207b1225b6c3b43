#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::DeploymentStatus;
    use operator_core::ControllerBuilder;

    use super::*;

    fn controller() -> ControllerBuilder<impl Reconciler<Primary = Page>> {
        Controller::of::<Page>().workflow((html, web.after(html), address.after(web))).status(status)
    }

    fn page() -> Page {
        Page::new("a", PageSpec { html: "hello".to_owned(), published: true })
    }

    #[test]
    fn the_address_waits_for_the_server() {
        let mut half_ready = web(&page()).expect("a Deployment");
        half_ready.status = Some(DeploymentStatus { replicas: Some(1), ..DeploymentStatus::default() });
        let run = controller().dry_run(&page()).made(web, &half_ready).blocking();
        assert_eq!(run.writes(), ["apply ConfigMap/a-html", "apply Page/a/status"]);
        assert_eq!(run.state(address).to_string(), "waiting for web to be ready: 0/1 replicas updated");
    }

    #[test]
    fn a_page_with_an_error_is_left_as_it_is() {
        let mut page = page();
        page.spec.html = "an error".to_owned();
        let run = controller().dry_run(&page).blocking();
        assert_eq!(run.states()[0], "html: held: the html contains the word `error`");
        let body = run.body("apply Page/a/status");
        assert_eq!(body["status"]["conditions"][0]["reason"], "ErrorInHtml");
    }

    #[test]
    fn what_is_no_longer_published_loses_its_address() {
        let published = controller().dry_run(&page()).made(address, &Service::default()).blocking();
        let mut page = published.primary().expect("it stays");
        page.spec.published = false;
        let run = published.again().known(&page).blocking();
        assert_eq!(run.writes()[0], "delete Service/a-address");
        assert_eq!(run.next_run(), Some(std::time::Duration::from_secs(10 * 60 * 60)));
    }
}
