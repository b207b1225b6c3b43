//! The work in the server. Each statement may be repeated: after a crash, all of them are.
//!
//! Statements can't have parameters where they create users. So each name and password in them is checked before: a
//! Secret can be edited by people who may not run statements in the server.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::api::core::v1::Secret;
use mysql_async::{Conn, Error as SqlError, Opts, Pool, prelude::Queryable};
use operator_core::{BoxError, prelude::*};

use crate::{MySqlSchema, schema::name_of};

/// A schema with its users.
#[derive(Clone, PartialEq)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Its character set.
    pub encoding: String,
    /// Its users, and whether they may use it.
    pub users: BTreeMap<String, bool>,
    /// The password of a user who is created. The server keeps a hash, so an observed user has none.
    password: Option<String>,
}

/// The schemas in a server.
pub struct Databases(Pool);

/// Without the password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Databases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Databases")
    }
}

/// Why a Secret can't be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "the {field} in the Secret is not one that was generated; delete the Secret, and another one is generated"
)]
struct NotGenerated {
    field: &'static str,
}

/// A refusal without the server's message, which may repeat a password.
#[derive(Debug, thiserror::Error)]
#[error("the server refused to create the user: error {0}")]
struct NoUser(u16);

impl External<MySqlSchema> for Databases {
    type Resource = Database;
    type Want = Option<Database>;

    fn want(&self, schema: &MySqlSchema) -> Option<Database> {
        let encoding = schema.spec.encoding.name().to_owned();
        Some(Database { name: name_of(schema), encoding, users: BTreeMap::new(), password: None })
    }

    /// With the user and the password of the Secret, which exists by now.
    fn complete(&self, want: &Database, cx: &Context<MySqlSchema>) -> Result<Option<Database>> {
        let secret = cx.secondary::<Secret>()?;
        let read = |field: &'static str| {
            let bytes = &secret.as_ref()?.data.as_ref()?.get(field)?.0;
            std::str::from_utf8(bytes).ok().map(str::to_owned)
        };
        let is_random = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
        let is_user = |user: &String| {
            let suffix = user.strip_prefix(&want.name).and_then(|rest| rest.strip_prefix('-'));
            suffix.is_some_and(|suffix| suffix.len() == 6 && is_random(suffix))
        };
        let user = read("username").filter(is_user).ok_or(NotGenerated { field: "username" })?;
        let password = read("password").filter(|password| is_random(password));
        let password = password.ok_or(NotGenerated { field: "password" })?;
        Ok(Some(Database { users: [(user, true)].into(), password: Some(password), ..want.clone() }))
    }

    fn matches(&self, actual: &Database, want: &Database) -> bool {
        actual.encoding == want.encoding && actual.users == want.users
    }

    async fn observe(&self, name: &str) -> Result<Option<Database>> {
        let mut server = self.0.get_conn().await?;
        let query =
            "SELECT default_character_set_name FROM information_schema.schemata WHERE schema_name = ?";
        let Some(encoding) = server.exec_first(query, (name,)).await? else { return Ok(None) };
        let users = users(&mut server, name).await?;
        Ok(Some(Database { name: name.to_owned(), encoding, users, password: None }))
    }

    async fn create(&self, want: &Database, _: &Token) -> Result<(String, Database)> {
        Ok((want.name.clone(), self.ensure(want).await?))
    }

    async fn update(&self, _: &str, _: &Database, want: &Database) -> Result<Database> {
        self.ensure(want).await
    }

    /// The schema is dropped last: as long as it exists, the operator looks for the rest.
    async fn delete(&self, name: &str) -> Result<Deletion> {
        let mut server = self.0.get_conn().await?;
        for user in users(&mut server, name).await?.keys() {
            server.query_drop(format!("DROP USER IF EXISTS '{user}'@'%'")).await?;
        }
        server.query_drop(format!("DROP DATABASE IF EXISTS `{name}`")).await?;
        Ok(Deletion::Gone)
    }
}

impl Databases {
    /// The schemas in this server. Nothing is connected yet.
    #[must_use]
    pub fn new(server: Opts) -> Self {
        Self(Pool::new(server))
    }

    /// Creates what is missing, and drops users from before the Secret was replaced. The schema comes first: as long as
    /// it doesn't exist, nothing else does.
    async fn ensure(&self, want: &Database) -> Result<Database, BoxError> {
        let Database { name, encoding, .. } = want;
        let mut server = self.0.get_conn().await?;
        server.query_drop(format!("CREATE DATABASE IF NOT EXISTS `{name}` CHARACTER SET {encoding}")).await?;
        server.query_drop(format!("ALTER DATABASE `{name}` CHARACTER SET {encoding}")).await?;
        let password = want.password.as_deref().unwrap_or_default();
        for user in want.users.keys() {
            let create = format!("CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{password}'");
            server.query_drop(create).await.map_err(without_words)?;
            server.query_drop(format!("GRANT ALL ON `{name}`.* TO '{user}'@'%'")).await?;
        }
        let users = users(&mut server, name).await?;
        for user in users.keys().filter(|user| !want.users.contains_key(*user)) {
            server.query_drop(format!("DROP USER IF EXISTS '{user}'@'%'")).await?;
        }
        Ok(Database { password: None, ..want.clone() })
    }
}

/// The users of a schema, and whether they may use it.
async fn users(server: &mut Conn, name: &str) -> Result<BTreeMap<String, bool>, SqlError> {
    let query = "SELECT u.user, d.user IS NOT NULL FROM mysql.user u \
                 LEFT JOIN mysql.db d ON d.user = u.user AND d.host = u.host AND d.db = ? WHERE u.user LIKE ?";
    // Names hold no `%` and no `_`; the six are the random letters.
    let users: Vec<(String, bool)> = server.exec(query, (name, format!("{name}-______"))).await?;
    Ok(users.into_iter().collect())
}

fn without_words(error: SqlError) -> BoxError {
    match error {
        SqlError::Server(error) => NoUser(error.code).into(),
        error => error.into(),
    }
}
