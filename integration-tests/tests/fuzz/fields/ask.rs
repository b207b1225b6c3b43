//! Sends each value of each field to both servers.

use futures::{StreamExt, TryStreamExt};
use http::Request;
use integration_tests::prelude::*;
use operator_core::testing::{Controllers, InProcessServer};

use super::{
    bases::Kind,
    types::Types,
    walk::{Place, walk},
    wrong::{Given, changed, wrong},
};
use crate::{compare::Answer, run::send};

/// The namespace of all objects.
const NAMESPACE: &str = "fields";
/// So many requests are under way at once.
const IN_FLIGHT: usize = 48;

/// The code of an answer that the real server doesn't give.
pub(super) const PANICS: u16 = 0;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// A new object with a wrong value.
    Create,
    /// A change of an object that is there.
    Update,
    /// A wrong value in its status.
    Status,
}

/// A request to be sent to both servers.
struct Case {
    way: Way,
    field: String,
    given: Given,
    real: Request<Vec<u8>>,
    model: Request<Vec<u8>>,
}

/// Two answers to one value of one field.
pub(super) struct Asked {
    pub(super) way: Way,
    pub(super) field: String,
    pub(super) given: Given,
    pub(super) real: Answer,
    pub(super) model: Answer,
}

/// Makes what all kinds need.
pub(super) async fn prepare(client: &Client) -> anyhow::Result<()> {
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    let answer = send(client, request("POST", "/api/v1/namespaces", &namespace)?).await?;
    anyhow::ensure!(answer.is_success(), "no namespace: {}", answer.body);
    Ok(())
}

/// Tries all fields of a kind.
pub(super) async fn kind(types: &Types, real: &Client, kind: &Kind) -> anyhow::Result<Vec<Asked>> {
    let model = in_process().await?;
    let mut cases = Vec::new();
    for (number, object) in (kind.objects)().into_iter().enumerate() {
        // Both sorts of Events are kept in one place.
        let sort = if kind.api_version.starts_with("events") { "other" } else { "base" };
        let name = format!("{sort}{number}");
        let object = named(kind, object, &name);
        let live =
            Pair { real: created(real, kind, &object).await?, model: created(&model, kind, &object).await? };
        // The further objects are there for fields of which the first can't have any value.
        let is_again = number > 0 && ["Pod", "Job"].contains(&kind.name);
        cases.extend(cases_of(types, kind, &named(kind, object, "new"), &live, is_again)?);
    }
    let asked = futures::stream::iter(cases.into_iter().map(|case| {
        let (real, model) = (real.clone(), model.clone());
        async move {
            let (way, field, given) = (case.way, case.field, case.given);
            let model = send(&model, case.model).await?;
            // A connection may end while a request is on its way. If it does so again, the real server panics at it, and
            // has no answer that ours could be compared with.
            let again = case.real.clone();
            let real = match send(&real, case.real).await {
                Ok(real) => real,
                Err(_) => send(&real, again).await.unwrap_or(Answer { code: PANICS, body: Value::Null }),
            };
            anyhow::Ok(Asked { way, field, given, real, model })
        }
    }));
    asked.buffered(IN_FLIGHT).try_collect().await
}

#[expect(clippy::disallowed_methods, reason = "a server by itself has the machine's clock")]
async fn in_process() -> anyhow::Result<Client> {
    let client = InProcessServer::with_controllers(jiff::Timestamp::now, Controllers::Off).client();
    prepare(&client).await?;
    Ok(client)
}

struct Pair {
    real: Value,
    model: Value,
}

fn named(kind: &Kind, mut object: Value, name: &str) -> Value {
    object["apiVersion"] = kind.api_version.into();
    object["kind"] = kind.name.into();
    object["metadata"]["name"] = format!("{NAMESPACE}-{name}").into();
    if kind.namespaced {
        object["metadata"]["namespace"] = NAMESPACE.into();
    }
    object
}

fn path(kind: &Kind) -> String {
    let base = if kind.api_version.contains('/') { "apis" } else { "api" };
    let place = if kind.namespaced { format!("/namespaces/{NAMESPACE}") } else { String::new() };
    format!("/{base}/{}{place}/{}", kind.api_version, kind.plural)
}

async fn created(client: &Client, kind: &Kind, object: &Value) -> anyhow::Result<Value> {
    let answer = send(client, request("POST", &path(kind), object)?).await?;
    anyhow::ensure!(answer.is_success(), "an object that should be valid is not: {}", answer.body);
    Ok(answer.body)
}

fn request(method: &str, path: &str, body: &Value) -> anyhow::Result<Request<Vec<u8>>> {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    Ok(request.body(serde_json::to_vec(body)?)?)
}

fn cases_of(
    types: &Types,
    kind: &Kind,
    new: &Value,
    live: &Pair,
    is_again: bool,
) -> anyhow::Result<Vec<Case>> {
    let of = types.kind(kind.api_version, kind.name);
    let (all, mut cases) = (path(kind), Vec::new());
    let one = format!("{all}/{}", live.real["metadata"]["name"].as_str().unwrap_or_default());
    let ask = |way: Way, place: &Place, given: &Given| {
        let (method, path) = match way {
            Way::Create => ("POST", format!("{all}?dryRun=All")),
            Way::Update => ("PUT", format!("{one}?dryRun=All")),
            Way::Status => ("PUT", format!("{one}/status?dryRun=All")),
        };
        let body = |live: &Value| {
            let mut object = place.clone();
            match way {
                Way::Create => {}
                Way::Update => object.object = live.clone(),
                // The parents of the field are not in the object that is there.
                Way::Status => {
                    let status = object.object["status"].take();
                    object.object = live.clone();
                    object.object["status"] = status;
                }
            }
            object.with(given.clone())
        };
        let real = request(method, &path, &body(&live.real))?;
        // What the real server has put into its object with its uid, the other has with its own.
        let uid = |live: &Value| live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let text = body(&live.model).to_string().replace(&uid(&live.real), &uid(&live.model));
        let model = request(method, &path, &serde_json::from_str(&text)?)?;
        anyhow::Ok(Case { way, field: place.name(), given: given.clone(), real, model })
    };
    for (number, mut place) in walk(types, new, &[], of).into_iter().enumerate() {
        place.is_again |= is_again;
        let place = &place;
        let field = last_field(place);
        for given in some(place, number, wrong(&place.of, field, place.value())) {
            cases.push(ask(Way::Create, place, &given)?);
        }
        // Of a template all fields may change, or none.
        if place.is_again && number % 4 != 0 {
            continue;
        }
        let mut here = place.clone();
        here.object = live.real.clone();
        let mut changes = changed(&place.of, field, here.value());
        // Metadata are looked at several times, and a cause is said as often.
        if place.name().starts_with("metadata.") && !["name", "namespace", "resourceVersion"].contains(&field)
        {
            changes.extend(wrong(&place.of, field, here.value()));
        }
        for given in some(place, number, changes) {
            cases.push(ask(Way::Update, place, &given)?);
        }
    }
    if kind.has_status {
        let status = types.fields(of).get("status").map(|field| &field.of);
        let Some(super::types::Type::Struct(status)) = status else { return Ok(cases) };
        let mut object = new.clone();
        object["status"] = (kind.status)();
        for (number, place) in walk(types, &object, &["status"], status).iter().enumerate() {
            for given in some(place, number, wrong(&place.of, last_field(place), place.value())) {
                cases.push(ask(Way::Status, place, &given)?);
            }
        }
    }
    Ok(cases)
}

fn last_field(place: &Place) -> &str {
    let fields = place.path.iter().rev().filter_map(|step| match step {
        super::walk::Step::Field(field) => Some(field.as_str()),
        super::walk::Step::First => None,
    });
    fields.take(1).next().unwrap_or_default()
}

/// All values, or one of them where others are tried elsewhere.
fn some(place: &Place, number: usize, values: Vec<Given>) -> Vec<Given> {
    if !place.is_again || values.is_empty() {
        return values;
    }
    let one = values[number % values.len()].clone();
    vec![one]
}
