//! A secret that the other system gives goes into a Secret, and nowhere else.

use integration_tests::prelude::*;
use k8s_openapi::ByteString;
use operator_core::{
    Context, Run,
    dependent::{Deletion, External, Records, Token},
    testing::OtherSystem,
    the,
};

/// Nothing else has these letters.
const CANARY: &str = "canary-9d1f";

/// What the other system keeps: a name, and a password that it has made up.
#[derive(Clone, PartialEq)]
struct Account {
    name: String,
    password: String,
}

struct Accounts(OtherSystem<Account>);

impl External<TestResource> for Accounts {
    type Resource = Account;
    type Want = Option<Account>;

    fn want(&self, one: &TestResource) -> Option<Account> {
        Some(Account { name: one.spec.value.clone(), password: String::new() })
    }

    fn matches(&self, actual: &Account, want: &Account) -> bool {
        actual.name == want.name
    }

    async fn observe(&self, id: &str) -> Result<Option<Account>, BoxError> {
        Ok(self.0.get(id).await?)
    }

    async fn create(&self, want: &Account, token: &Token) -> Result<(String, Account), BoxError> {
        let account = Account { password: CANARY.to_owned(), ..want.clone() };
        Ok(self.0.create(token.as_str(), account).await?)
    }

    async fn update(&self, id: &str, actual: &Account, want: &Account) -> Result<Account, BoxError> {
        if want.name == "wrong" {
            return Err(format!("no account is called {}", want.name).into());
        }
        Ok(self.0.update(id, Account { name: want.name.clone(), ..actual.clone() }).await?)
    }

    async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
        Ok(self.0.delete(id).await?)
    }
}

/// A function that reads what the record's node has seen.
fn credentials(_: &TestResource, cx: &Context<TestResource>) -> Option<Secret> {
    let account = cx.external::<Account>().into_iter().next()?;
    let data = [("password".to_owned(), ByteString(account.password.clone().into_bytes()))];
    Some(Secret { data: Some(data.into()), ..Secret::default() })
}

fn status(_: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let message = match run.error() {
        Some(error) => format!("{error:?}"),
        None => format!("{:?}", run.get(the::<Accounts>()).map(|account| account.name.clone())),
    };
    TestStatus { message: Some(message), ..TestStatus::default() }
}

#[operator_test(flavor = "current_thread")]
async fn a_password_is_in_its_secret_and_in_nothing_that_is_shown() -> Result<()> {
    let (log, _guard) = LogText::start();
    let scene = Scene::new("record-secret").await?;
    scene.failures.expect("no account is called wrong");
    scene.failures.allow("is not called for this record before");
    let system = OtherSystem::new();
    let accounts = Records::new(Accounts(system.clone())).id_in_status("recordId");
    let workflow =
        Workflow::builder().nodes((accounts, operator_core::node(credentials).after(the::<Accounts>())));
    let script = Script::<TestResource>::idle();
    let controller = scene.controller(&script).status(status).workflow(&workflow.build()?);
    let numbers = Numbers::default();
    let builder = scene.operator().metrics(numbers.recorder()).register(controller);
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    let secret =
        eventually("the Secret", async || Ok(scene.api::<Secret>().get_opt("one-credentials").await?))
            .await?;
    let data = secret.data.context("data")?;
    assert_eq!(data["password"].0, CANARY.as_bytes());
    scene.patch("one", serde_json::json!({ "spec": { "value": "wrong" } })).await?;
    eventually("a failed run", async || Ok((scene.failures.seen("no account") > 0).then_some(()))).await?;
    let one = scene.resources.get("one").await?;
    assert!(!serde_json::to_string(&one)?.contains(CANARY), "in the primary");
    assert_eq!(scene.failures.seen(CANARY), 0, "in an error");
    assert!(!log.text().contains(CANARY), "in the log");
    let text = numbers.text();
    assert!(!text.is_empty() && !text.contains(CANARY), "in a metric: {text}");
    operator.stop().await;
    Ok(())
}
