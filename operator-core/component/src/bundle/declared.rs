//! The declaration of a bundle.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, LazyLock},
};

use futures::{FutureExt, future::BoxFuture};
use kube::core::object::HasStatus;
use operator_core::{
    BoxError, Context, Mixed, Node, ObjectKey, Objects, Permanent, Run, Want,
    dependent::Lookups,
    node,
    resource::KubeObject,
    workflow::{AnyNodes, IntoNode, NodeKey, Predecessor, Value as Wired},
};
use serde_json::Value;

use super::{BundleStatus, HasBundle, Settings, shown};
use crate::generator::{Generator, Lookup, LookupKey, RenderCache, RenderContext, digest_of};

/// How many objects the status names.
const NAMED: usize = 200;

/// What the generators of this process have made.
static CACHE: LazyLock<RenderCache> = LazyLock::new(RenderCache::new);

/// Objects of several kinds that are one node of a workflow, with its part of the status. It stands in a tuple of nodes as a
/// node does. Made by [`bundle`].
#[must_use = "a bundle does nothing until it is part of a workflow"]
pub struct Bundle<P: KubeObject> {
    name: Arc<str>,
    generator: Arc<dyn Render<P>>,
    settings: Arc<dyn Settings<P>>,
    inventory: usize,
}

impl<P: KubeObject> Clone for Bundle<P> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            generator: Arc::clone(&self.generator),
            settings: Arc::clone(&self.settings),
            inventory: self.inventory,
        }
    }
}

impl<P: KubeObject> fmt::Debug for Bundle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A bundle with this name, whose objects the generator makes.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::CustomResource;
/// use operator_component::{Bundle, BundleStatus, HasBundle, bundle, generator::RenderContext};
/// use operator_core::{BoxError, Objects, prelude::*};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// #[kube(group = "example.com", version = "v1", kind = "AddOn", namespaced, status = "AddOnStatus")]
/// struct AddOnSpec {}
///
/// #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
/// struct AddOnStatus {
///     #[serde(flatten)]
///     bundle: BundleStatus,
/// }
///
/// impl HasBundle for AddOnStatus {
///     fn bundle(&self) -> &BundleStatus {
///         &self.bundle
///     }
/// }
///
/// fn addon() -> Bundle<AddOn> {
///     bundle("addon", |cx: &RenderContext<'_, AddOn>| -> Result<Objects, BoxError> {
///         let mut objects = Objects::new();
///         let mut map = ConfigMap::default();
///         map.metadata.name = Some(format!("{}-config", cx.name()));
///         objects.push(map);
///         Ok(objects)
///     })
/// }
///
/// fn status(primary: &AddOn, run: &Run<AddOn>) -> AddOnStatus {
///     AddOnStatus { bundle: Bundle::of(&addon(), primary, run) }
/// }
///
/// let controller = Controller::of::<AddOn>().workflow((addon(),)).status(status);
/// ```
pub fn bundle<P: KubeObject>(name: &str, generator: impl Generator<P>) -> Bundle<P> {
    Bundle { name: name.into(), generator: Arc::new(generator), settings: Arc::new(()), inventory: NAMED }
}

/// Looks objects up for a run: they are watched, and wake the primary.
struct Watching<'r, P: KubeObject> {
    lookups: &'r Lookups,
    cx: &'r Context<P>,
}

impl<P: KubeObject> Lookup for Watching<'_, P> {
    fn lookup<'a>(&'a self, key: &'a LookupKey) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async move {
            let LookupKey { api_version, kind, namespace, name } = key;
            let named = match &**namespace {
                "" => ObjectKey::cluster_scoped(name),
                namespace => ObjectKey::namespaced(namespace, name),
            };
            let found = self.lookups.get(self.cx, (api_version, kind), &named).await?;
            Ok(found.map(|object| serde_json::to_value(&*object)).transpose()?)
        })
    }
}

/// A generator without its type.
trait Render<P>: Send + Sync {
    fn identity(&self) -> String;

    /// `of`: the uid of the primary, and the node.
    fn render<'r>(
        &'r self,
        of: (&'r str, &'r str),
        cx: &'r RenderContext<'r, P>,
    ) -> BoxFuture<'r, Result<Objects, BoxError>>;
}

impl<P: KubeObject, G: Generator<P>> Render<P> for G {
    fn identity(&self) -> String {
        Generator::identity(self)
    }

    fn render<'r>(
        &'r self,
        (primary, node): (&'r str, &'r str),
        cx: &'r RenderContext<'r, P>,
    ) -> BoxFuture<'r, Result<Objects, BoxError>> {
        CACHE.generate(primary, node, self, cx).boxed()
    }
}

impl<P: KubeObject> Bundle<P> {
    /// What the primary says about it, instead of the defaults.
    pub fn settings(mut self, settings: impl Settings<P>) -> Self {
        self.settings = Arc::new(settings);
        self
    }

    /// How many objects the status names, those that aren't ready first. By default 200.
    pub fn inventory(mut self, named: usize) -> Self {
        self.inventory = named;
        self
    }

    /// The node, which takes all words of a node, such as `after` and `kinds`.
    pub fn node(&self) -> Node<P, Mixed>
    where
        P: HasStatus<Status: HasBundle>,
    {
        let of = Arc::new((self.clone(), Lookups::default()));
        let wanted = move |primary: Arc<P>, cx: Context<P>| {
            let of = Arc::clone(&of);
            async move {
                let (bundle, lookups) = &*of;
                bundle.wanted(&primary, &Watching { lookups, cx: &cx }).await
            }
        };
        let settings = Arc::clone(&self.settings);
        let types = move |primary: &P| settings.managed_types(primary);
        node(wanted).named(Arc::clone(&self.name)).managed_types(types)
    }

    /// Its part of the status after a run: for the status function of the controller. It asks for another run when the state
    /// changes by itself, and when [`Settings::requeue`] says so.
    #[must_use]
    pub fn of(&self, primary: &P, run: &Run<P>) -> BundleStatus
    where
        P: HasStatus<Status: HasBundle>,
    {
        let nothing = BundleStatus::default();
        let before = primary.status().map_or(&nothing, HasBundle::bundle);
        // What it refers to was read for the run.
        let digest = match self.settings.references(primary).is_empty() {
            true => {
                let parameters = self.settings.parameters(primary).ok();
                parameters.map(|parameters| self.digest(primary, &parameters, &BTreeMap::new()))
            }
            false => CACHE.digest(primary.meta().uid.as_deref().unwrap_or_default(), &self.name),
        };
        let seen = shown::Seen { name: &self.name, settings: &*self.settings, digest, named: self.inventory };
        seen.status(before, primary, run)
    }

    /// Of what the objects are made of, as far as the primary says it, with what it refers to.
    fn digest(&self, primary: &P, parameters: &Value, references: &BTreeMap<LookupKey, String>) -> String {
        let (namespace, name) = (self.settings.namespace(primary), self.settings.name(primary));
        let whole = serde_json::json!([namespace, name, parameters]);
        digest_of(&whole, &self.generator.identity(), references)
    }

    async fn wanted(&self, primary: &P, cluster: &Watching<'_, P>) -> Result<Want<Objects>, BoxError>
    where
        P: HasStatus<Status: HasBundle>,
    {
        let settings = &*self.settings;
        if settings.kubeconfig(primary).is_some() || settings.impersonation(primary).is_some() {
            let what = "a bundle can't be deployed to another cluster or in the name of a user yet: leave out `kubeconfig` \
                        and `impersonation`";
            return Err(Permanent::new(what).into());
        }
        if settings.is_suspended(primary) {
            return Ok(Want::hold("Suspended", "the bundle is suspended"));
        }
        let parameters = settings.parameters(primary)?;
        cluster.lookups.begin(cluster.cx);
        let mut references = BTreeMap::new();
        for key in settings.references(primary) {
            let Some(found) = cluster.lookup(&key).await? else {
                let what = format!("{key} not found: the primary refers to it");
                return Ok(Want::wait("MissingReference", what));
            };
            let digest = content_digest(found);
            references.insert(key, digest);
        }
        let digest = self.digest(primary, &parameters, &references);
        let stored = primary.status().map(HasBundle::bundle);
        let revision = stored.map_or(1, |stored| stored.revision_of(&digest));
        let namespace = settings.namespace(primary);
        let render = RenderContext::of(primary)
            .with_name(settings.name(primary))
            .with_parameters(parameters)
            .with_revision(revision)
            .with_digest(digest)
            .with_lookup(cluster);
        let render = match &namespace {
            Some(namespace) => render.with_namespace(namespace.as_str()),
            None => render,
        };
        let uid = primary.meta().uid.as_deref().unwrap_or_default();
        let mut objects = self.generator.render((uid, &self.name), &render).await?;
        if let Some(namespace) =
            namespace.filter(|namespace| primary.meta().namespace.as_ref() != Some(namespace))
        {
            for object in objects.iter_mut() {
                object.metadata.namespace.get_or_insert_with(|| namespace.clone());
            }
            if settings.makes_namespaces(primary) && !has_namespace(&objects, &namespace) {
                add_namespace(&mut objects, &namespace, cluster).await?;
            }
        }
        cluster.lookups.finish(cluster.cx);
        objects.defaults(|object| settings.defaults(primary, object));
        Ok(Want::Is(objects))
    }
}

/// Of an object without what changes by itself.
fn content_digest(mut object: Value) -> String {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("metadata");
        fields.remove("status");
    }
    digest_of(&object, "", &BTreeMap::new())
}

fn has_namespace(objects: &Objects, namespace: &str) -> bool {
    objects.find("v1", "Namespace", namespace).is_some()
}

/// Makes the namespace, if it doesn't exist. It stays when the bundle goes: others may have objects in it.
async fn add_namespace(objects: &mut Objects, namespace: &str, cluster: &dyn Lookup) -> Result<(), BoxError> {
    let key = LookupKey {
        api_version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
        namespace: String::new(),
        name: namespace.to_owned(),
    };
    if cluster.lookup(&key).await?.is_none() {
        let mut made = k8s_openapi::api::core::v1::Namespace::default();
        made.metadata.name = Some(namespace.to_owned());
        objects.push(made).wave(i16::MIN).delete_order(i16::MAX).create_only().orphan();
    }
    Ok(())
}

impl<P: KubeObject + HasStatus<Status: HasBundle>> IntoNode<P> for Bundle<P> {
    fn add_to(self, nodes: &mut AnyNodes) {
        self.node().add_to(nodes);
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject + HasStatus<Status: HasBundle>> Predecessor<P> for &Bundle<P> {
    fn key(self) -> NodeKey {
        (&self.node()).key()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Wired<P> for Bundle<P> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}
