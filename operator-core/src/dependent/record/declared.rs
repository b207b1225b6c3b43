//! The declaration of a node's records.

use std::{
    any::TypeId,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::object::HasStatus;
use serde::de::DeserializeOwned;

use super::{
    External, Pushes, Wants,
    engine::{Engine, several},
    field,
    ids::Ids,
    looks::Look,
    memory::Memory,
    object::IdObject,
    source::RecordSource,
};
use crate::{
    dependent::{
        AnyDependent, Capabilities, Declaration, DependentSource, System, Unsound, function::Judged,
    },
    reconciler::MemoKey,
    resource::KubeObject,
};

/// The records of an [`External`], with the place of their ids, the times at which they are read, and the limits of their system.
///
/// `Records::new(Dns { api }).id_in_status("recordId")` is a node of a workflow, with `after`, `only_if`, `ready`, `gone`, `needs` and
/// `named`. It is named after its type, and the name is part of each record's [`Token`](super::Token): keep it by `named` if
/// you rename the type.
#[must_use = "records do nothing until they are part of a workflow"]
pub struct Records<E, P> {
    external: E,
    ids: Option<Ids<P>>,
    shows_within: Duration,
    look: Look,
    system: Option<System>,
    /// The mistake in the field that keeps ids.
    wrong: Option<Unsound>,
}

impl<E: External<P>, P: KubeObject> Records<E, P> {
    /// The place of the ids has to be declared next: by [`id_in_status`](Self::id_in_status),
    /// [`id_in_config_map`](Self::id_in_config_map), [`id_in_secret`](Self::id_in_secret) or [`id_of`](Self::id_of).
    pub fn new(external: E) -> Self {
        Self {
            external,
            ids: None,
            shows_within: Duration::ZERO,
            look: Look::default(),
            system: None,
            wrong: None,
        }
    }

    /// Keeps the id in this field of the primary's status: a text (`Option<String>`), or for several records a map of
    /// texts by key (`Option<BTreeMap<String, String>>`). `field` is its name in JSON, or a path with dots. It has to be in
    /// the schema of the primary's definition. The framework writes it, under a field manager of its own. A status function
    /// leaves it out, or returns what it has read.
    pub fn id_in_status(mut self, field: impl Into<Arc<str>>) -> Self
    where
        P: HasStatus<Status: DeserializeOwned>,
    {
        let field = field.into();
        self.wrong = field::wrong::<P::Status>(&field, several::<E, P>());
        self.ids = Some(Ids::Status(field));
        self
    }

    /// Keeps the id in a ConfigMap `<primary>-<node>`, which the primary owns: as `id`, or for several records each by its
    /// key, or by a hash of the key where that can't be a name. For primaries whose status belongs to others, such as a Service.
    pub fn id_in_config_map(mut self) -> Self {
        self.ids = Some(Ids::Object(IdObject::of::<ConfigMap>(several::<E, P>())));
        self
    }

    /// Keeps the id in a Secret `<primary>-<node>`, in the same way. For an id that is secret.
    pub fn id_in_secret(mut self) -> Self {
        self.ids = Some(Ids::Object(IdObject::of::<Secret>(several::<E, P>())));
        self
    }

    /// The id follows from the primary, so it isn't kept, searched for or noted. For one record in a
    /// system that lets its user choose the id: `create` uses this one, and the id that it returns is ignored.
    pub fn id_of(mut self, id: impl Fn(&P) -> String + Send + Sync + 'static) -> Self {
        self.ids = Some(Ids::Follow(Arc::new(id)));
        self
    }

    /// How long it may take until reads and searches in the other system show a created record. Until then, a missing
    /// record counts as unknown: the run fails and is retried. By default a system shows everything at once.
    pub fn shows_within(mut self, within: Duration) -> Self {
        self.shows_within = within;
        self
    }

    /// Reads the records of each primary in this period, by one call each, and triggers the primary if they have changed.
    /// Runs use the results of the last poll. By default each run reads the records, and nothing is read between runs. Of this,
    /// [`polled_together`](Self::polled_together) and [`pushed_by`](Self::pushed_by), the last one called takes effect.
    pub fn polled(mut self, every: Duration) -> Self {
        self.look = Look::Each(every);
        self
    }

    /// Reads the records of all primaries in this period, by one call of [`External::observe_all`].
    pub fn polled_together(mut self, every: Duration) -> Self {
        self.look = Look::Together(every);
        self
    }

    /// Reads a record once after a start, and then whenever the other system says that it has changed. A change that
    /// isn't pushed isn't noticed.
    pub fn pushed_by(mut self, pushes: &Pushes) -> Self {
        self.look = Look::Pushed(pushes.clone());
        self
    }

    /// The limits of its calls, which it shares with all other nodes that are given this system. By default the records of a
    /// node have a system of their own, with the default limits.
    pub fn system(mut self, system: &System) -> Self {
        self.system = Some(system.clone());
        self
    }

    /// Those that an earlier version of a node has made, wherever it kept their ids.
    pub(crate) fn former(external: E) -> Self {
        let object = IdObject::of::<ConfigMap>(several::<E, P>());
        Self { ids: Some(Ids::Former(object)), ..Self::new(external) }
    }

    /// The mistakes in the declaration.
    fn unsound(&self) -> Option<Unsound> {
        match &self.ids {
            None => Some(Unsound {
                what: "has records outside the cluster, but no place for their ids",
                why: "after a restart the controller wouldn't know which records are its own".to_owned(),
                write: "`.id_in_status(\"recordId\")`, with the name of a field of the primary's status",
            }),
            Some(Ids::Follow(_)) if several::<E, P>() => Some(Unsound {
                what: "has several records whose ids follow from the primary",
                why: "the id of a record that is no longer wanted would be unknown".to_owned(),
                write: "`.id_in_status(\"recordIds\")`, with the name of a field of the primary's status",
            }),
            Some(Ids::Status(_)) => self.wrong.clone(),
            Some(_) => None,
        }
    }

    /// The engine of the node with that name. Everything that it brings along is named after it: there may be several
    /// nodes of one type.
    pub(crate) fn declared(self, name: Arc<str>) -> AnyDependent {
        let memory = Arc::new(Memory::default());
        let unsound = self.unsound();
        // A declaration without a place for ids is refused before anything starts.
        let ids = self.ids.unwrap_or_else(|| Ids::Status(Arc::from("")));
        let external = Arc::new(self.external);
        let system = self.system.unwrap_or_else(|| System::new(Arc::clone(&name)));
        let (looks, polling) = self.look.declared::<E, P>(&name, &external, &memory, &system);
        let pushes = match self.look {
            Look::Pushed(pushes) => Some(pushes),
            _ => None,
        };
        let name_of_source = Arc::from(format!("{name} records"));
        let source = RecordSource { name: name_of_source, memory: Arc::clone(&memory), pushes };
        let kept = ids.declaration();
        let sources = [DependentSource::own(Arc::new(source)), system.source()].into_iter().chain(polling);
        let sources = sources.chain(kept.event_sources.iter().cloned());
        let declaration = Declaration {
            capabilities: Capabilities { garbage_collected: false, ..Capabilities::CRUD },
            event_sources: sources.collect(),
            several: several::<E, P>(),
            outside: Some(TypeId::of::<E>()),
            judged: Some(Judged {
                before_order: true,
                holds: <E::Want as Wants<E::Resource>>::HOLDS,
                optional: <E::Want as Wants<E::Resource>>::OPTIONAL,
                reads: false,
            }),
            keeps: ids.field().cloned(),
            unsound,
            ..kept
        };
        let engine = Engine {
            external,
            ids,
            looks,
            shows_within: self.shows_within,
            system,
            memory,
            memo: MemoKey::default(),
            tried_out: AtomicBool::new(false),
        };
        AnyDependent::new(name, declaration, engine)
    }
}

debug_of!(Records<E, P> [E, P]: "Records", |it| ids: it.ids);
