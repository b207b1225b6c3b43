//! The kind, and its controller: a Secret with credentials, and after it the schema and its user.

use std::time::Duration;

use k8s_openapi::{ByteString, api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::Condition};
use kube::{CustomResource, ResourceExt};
use operator_core::{dependent::System, prelude::*, the};
use rand::distr::{Alphanumeric, SampleString};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Databases;

/// A schema with a user who may do everything in it.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "sample.operator-core.io",
    version = "v1",
    kind = "MySqlSchema",
    namespaced,
    status = "MySqlSchemaStatus",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Database", "type": "string", "jsonPath": ".status.database"}"#,
    printcolumn = r#"{"name": "Secret", "type": "string", "jsonPath": ".status.secret"}"#
)]
pub struct MySqlSchemaSpec {
    /// The character set of tables that don't set their own.
    #[serde(default)]
    pub encoding: Encoding,
}

/// A character set.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// All of Unicode.
    #[default]
    Utf8mb4,
    /// Western Europe, in one byte.
    Latin1,
    /// Seven bits.
    Ascii,
}

impl Encoding {
    /// The server's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8mb4 => "utf8mb4",
            Self::Latin1 => "latin1",
            Self::Ascii => "ascii",
        }
    }
}

/// The state of a schema.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MySqlSchemaStatus {
    /// The name of the schema in the server.
    pub database: Option<String>,
    /// The Secret with `database`, `username` and `password`.
    pub secret: Option<String>,
    /// The generation of the spec that this status is about.
    pub observed_generation: Option<i64>,
    /// Ready, Reconciling and Stalled.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// The controller. Each schema is checked in this period.
pub fn controller(
    databases: Databases,
    period: Duration,
) -> ControllerBuilder<impl Reconciler<Primary = MySqlSchema>> {
    let server = System::new("mysql").deadline(Duration::from_secs(10));
    let database = Records::new(databases).id_of(name_of).polled(period).system(&server);
    Controller::of::<MySqlSchema>()
        .name("mysql-schema-operator")
        .workflow((node(credentials).create_only(), database.after(credentials)))
        .status(status)
}

/// The name of the schema in the server. It contains a part of the uid, so no other schema has it: the operator need not
/// find out the owner of a schema before it creates or drops it. The user's name has seven letters more, 32 in all.
#[must_use]
pub fn name_of(schema: &MySqlSchema) -> String {
    let name: String = schema.name_any().chars().take(12).collect();
    let uid = schema.uid().unwrap_or_default();
    // The last twelve digits, which are random.
    format!("{name}-{}", uid.rsplit('-').next().unwrap_or_default())
}

/// A user and a password, generated once: the node is `create_only`. If someone deletes the Secret, another user with
/// another password is created, and the former user is dropped.
#[must_use]
pub fn credentials(schema: &MySqlSchema) -> Secret {
    let database = name_of(schema);
    let random = |letters| Alphanumeric.sample_string(&mut rand::rng(), letters);
    let username = format!("{database}-{}", random(6).to_lowercase());
    let data = [("database", database), ("username", username), ("password", random(32))];
    let data = data.map(|(key, value)| (key.to_owned(), ByteString(value.into_bytes())));
    Secret { data: Some(data.into()), ..Secret::default() }
}

fn status(schema: &MySqlSchema, run: &Run<MySqlSchema>) -> MySqlSchemaStatus {
    MySqlSchemaStatus {
        database: run.get(the::<Databases>()).map(|database| database.name.clone()),
        secret: run.get(credentials).map(|secret| secret.name_any()),
        observed_generation: schema.metadata.generation,
        conditions: run.conditions(schema),
    }
}
