//! A set of objects of any kinds, as user code makes it. Pure.

use std::{any::Any, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Resource,
    core::{DynamicObject, TypeMeta},
};
use serde_json::Value;

use super::{
    policies::{
        APPLY_ORDER, Choice, DELETE_ORDER, DeletePolicy, IGNORE_FIELDS, PURGE_ORDER, Reading,
        ReconcilePolicy, Rules, STATUS_HINT, UpdatePolicy,
    },
    yaml::{self, Place},
};
use crate::{error::Permanent, resource::KubeObject, results::Adoption};

/// Objects of any kinds, in the order in which they were added: what a dependent wants that is many things at once.
///
/// Each object may have policies of its own: annotations in its manifest, or the same words in code, which take
/// precedence. They are named after the annotations, and explained there.
///
/// ```
/// use operator_core::{
///     BoxError, Objects,
///     k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta},
/// };
///
/// const MANIFESTS: &str = "
/// apiVersion: v1
/// kind: Namespace
/// metadata: { name: shop }
/// ---
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata: { name: web, namespace: shop }
/// ";
///
/// fn addon(replicas: u32) -> Result<Objects, BoxError> {
///     let mut objects = Objects::from_yaml(MANIFESTS)?;
///     for object in objects.iter_mut().filter(|object| object.metadata.name.as_deref() == Some("web")) {
///         object.data["spec"]["replicas"] = replicas.into();
///     }
///     let metadata = ObjectMeta { name: Some("colours".into()), ..ObjectMeta::default() };
///     objects.push(ConfigMap { metadata, ..ConfigMap::default() }).wave(1).create_only();
///     Ok(objects)
/// }
///
/// let objects = addon(3)?;
/// assert_eq!(objects.len(), 3);
/// assert_eq!(objects.find("apps/v1", "Deployment", "web").unwrap().data["spec"]["replicas"], 3);
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Clone, Default)]
pub struct Objects(Vec<Added>);

/// An object of a set, with what was said about it.
#[derive(Clone)]
struct Added {
    object: DynamicObject,
    /// The names of the annotations, without their prefix, and their values.
    words: Vec<(&'static str, String)>,
    /// The same for an object without such an annotation.
    defaults: Vec<(&'static str, String)>,
    place: Option<Place>,
    broken: Option<String>,
}

/// An object of a set with its policies, ready to be judged and sent.
pub(crate) struct SetObject {
    pub(crate) object: DynamicObject,
    /// Where it begins, if it is from YAML.
    pub(crate) place: Option<Place>,
    /// Why it has no form that can be sent.
    pub(crate) broken: Option<String>,
    pub(crate) reading: Reading,
}

impl Objects {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The objects in a YAML text: its documents, and the items of its lists.
    ///
    /// Scalars are those of YAML 1.2: `yes` is text. Numbers with leading zeros, merge keys and tags are refused, because other
    /// programs don't understand them in the same way.
    ///
    /// # Errors
    /// If the text isn't YAML, a key is there twice, or a document isn't an object with `apiVersion` and `kind`; with
    /// the document's number and the line, without any values. No retry can help, so the error is permanent.
    pub fn from_yaml(text: &str) -> Result<Self, Permanent> {
        let objects = yaml::objects(text).map_err(Permanent::new)?;
        let added = |(object, place)| Added { place: Some(place), ..Added::new(Ok(object), None) };
        Ok(Self(objects.into_iter().map(added).collect()))
    }

    /// Adds an object. The returned value takes policies for it.
    ///
    /// An object that can't be serialized, or has neither version nor kind, is an error of the set, together with all its
    /// others.
    pub fn push<K: KubeObject>(&mut self, object: K) -> Pushed<'_> {
        let types = types_of::<K>();
        let boxed: Box<dyn Any> = Box::new(object);
        let added = match boxed.downcast::<DynamicObject>() {
            Ok(dynamic) => Added::new(Ok(*dynamic), None),
            Err(other) => {
                let typed = other.downcast::<K>().expect("it is of its type");
                let dynamic = serde_json::to_value(&*typed).and_then(serde_json::from_value);
                let broken = |error: serde_json::Error| (Resource::meta(&*typed).clone(), error);
                Added::new(dynamic.map_err(broken), types)
            }
        };
        let at = self.0.len();
        self.0.push(added);
        Pushed(&mut self.0[at])
    }

    /// Adds all of these, with their policies.
    pub fn extend(&mut self, more: impl Into<Self>) {
        self.0.extend(more.into().0);
    }

    /// The objects in their order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DynamicObject> {
        self.0.iter().map(|added| &added.object)
    }

    /// The same, to change them.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut DynamicObject> {
        self.0.iter_mut().map(|added| &mut added.object)
    }

    /// Says these words of all objects that don't have them yet, in code or as annotations:
    /// `objects.defaults(|object| object.orphan())`.
    pub fn defaults(&mut self, words: impl Fn(Pushed<'_>) -> Pushed<'_>) {
        for added in &mut self.0 {
            let said = std::mem::take(&mut added.words);
            words(Pushed(added));
            added.defaults = std::mem::replace(&mut added.words, said);
        }
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first object with this version, kind and name, in whatever namespace: `find("apps/v1", "Deployment", "web")`.
    #[must_use]
    pub fn find(&self, api_version: &str, kind: &str, name: &str) -> Option<&DynamicObject> {
        self.iter().find(|object| is_called(object, api_version, kind, name))
    }

    /// The objects with their policies, which are in their annotations.
    pub(crate) fn read(self, rules: &Rules<'_>) -> Vec<SetObject> {
        let read = |added: Added| {
            let Added { mut object, mut words, defaults, place, broken } = added;
            let annotations = object.metadata.annotations.as_ref();
            let is_said = |word: &str| {
                words.iter().any(|(said, _)| *said == word)
                    || annotations.is_some_and(|all| all.contains_key(&format!("{}/{word}", rules.prefix)))
            };
            let defaults: Vec<_> = defaults.into_iter().filter(|(word, _)| !is_said(word)).collect();
            words.extend(defaults);
            // What `kubectl get` shows of an object, and nobody can want.
            let meta = &mut object.metadata;
            (meta.uid, meta.resource_version, meta.generation) = (None, None, None);
            (meta.creation_timestamp, meta.managed_fields) = (None, None);
            if !words.is_empty() {
                let annotations = object.metadata.annotations.get_or_insert_default();
                let words =
                    words.into_iter().map(|(word, value)| (format!("{}/{word}", rules.prefix), value));
                annotations.extend(words);
            }
            let reading = Reading::of(&object.metadata, rules);
            SetObject { object, place, broken, reading }
        };
        self.0.into_iter().map(read).collect()
    }
}

/// Whether the object has this version, kind and name.
pub(in crate::dependent) fn is_called(
    object: &DynamicObject,
    api_version: &str,
    kind: &str,
    name: &str,
) -> bool {
    let types = object.types.as_ref();
    types.is_some_and(|types| types.api_version == api_version && types.kind == kind)
        && object.metadata.name.as_deref() == Some(name)
}

/// Version and kind of objects of this type, if the type itself determines them.
fn types_of<K: KubeObject>() -> Option<TypeMeta> {
    let dynamic = (&() as &dyn Any).downcast_ref::<K::DynamicType>()?;
    let (api_version, kind) = (K::api_version(dynamic).into_owned(), K::kind(dynamic).into_owned());
    Some(TypeMeta { api_version, kind })
}

impl Added {
    fn new(object: Result<DynamicObject, (ObjectMeta, serde_json::Error)>, types: Option<TypeMeta>) -> Self {
        let (mut object, broken) = match object {
            Ok(object) => (object, None),
            Err((metadata, error)) => {
                let what = format!("it can't be serialized: {error}");
                (DynamicObject { types: None, metadata, data: Value::Null }, Some(what))
            }
        };
        object.types = object.types.or(types);
        Self { object, words: Vec::new(), defaults: Vec::new(), place: None, broken }
    }
}

impl<K: KubeObject> From<Vec<K>> for Objects {
    fn from(objects: Vec<K>) -> Self {
        let mut set = Self::new();
        for object in objects {
            set.push(object);
        }
        set
    }
}

impl<'o> IntoIterator for &'o Objects {
    type Item = &'o DynamicObject;
    type IntoIter = std::vec::IntoIter<&'o DynamicObject>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<Vec<_>>().into_iter()
    }
}

impl<'o> IntoIterator for &'o mut Objects {
    type Item = &'o mut DynamicObject;
    type IntoIter = std::vec::IntoIter<&'o mut DynamicObject>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut().collect::<Vec<_>>().into_iter()
    }
}

/// Shows kinds and names, no contents: they may be a Secret's.
impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(described)).finish()
    }
}

/// An object that was added to [`Objects`], to give it policies. Each is one of its annotations, and takes precedence over
/// that in its manifest.
pub struct Pushed<'o>(&'o mut Added);

debug_of!(Pushed<'_>: "Pushed");

#[expect(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "the object changes where it stands"
)]
impl Pushed<'_> {
    /// Applied in this wave, by default 0: after all of the waves before are ready. `apply-order`.
    pub fn wave(self, order: i16) -> Self {
        self.says(APPLY_ORDER, order.to_string())
    }

    /// Deleted in this wave, by default 0: after all of the waves before are gone. `delete-order`.
    pub fn delete_order(self, order: i16) -> Self {
        self.says(DELETE_ORDER, order.to_string())
    }

    /// Deleted at the end of this wave of applying, or of the last one, and not made again for the same content: what is
    /// needed only in between, such as a migration. `purge-order`.
    pub fn purged_after(self, wave: i16) -> Self {
        self.says(PURGE_ORDER, wave.to_string())
    }

    /// Which existing objects become those of the set. `adoption-policy`.
    pub fn adopt(self, adoption: Adoption) -> Self {
        self.chooses(adoption)
    }

    /// Created if it is absent, and never changed. `reconcile-policy: once`.
    pub fn create_only(self) -> Self {
        self.chooses(ReconcilePolicy::Once)
    }

    /// Applied also when only the component that it belongs to has changed.
    /// `reconcile-policy: on-object-or-component-change`.
    pub fn with_component(self) -> Self {
        self.chooses(ReconcilePolicy::OnObjectOrComponentChange)
    }

    /// Fields that `kubectl` or `helm` have set go unless they are wanted. `update-policy: ssa-override`.
    pub fn override_fields(self) -> Self {
        self.chooses(UpdatePolicy::SsaOverride)
    }

    /// Replaced as a whole, except for its finalizers. `update-policy: replace`.
    pub fn replace(self) -> Self {
        self.chooses(UpdatePolicy::Replace)
    }

    /// Deleted and created again when it has to be changed. `update-policy: recreate`.
    pub fn recreate(self) -> Self {
        self.chooses(UpdatePolicy::Recreate)
    }

    /// Never deleted: it stays, and has no owner. `delete-policy: orphan`.
    pub fn orphan(self) -> Self {
        self.chooses(DeletePolicy::Orphan)
    }

    /// Not deleted when it leaves the set, only with the whole set. `delete-policy: orphan-on-apply`.
    pub fn orphan_on_apply(self) -> Self {
        self.chooses(DeletePolicy::OrphanOnApply)
    }

    /// Not deleted with the whole set, only when it leaves the set. `delete-policy: orphan-on-delete`.
    pub fn orphan_on_delete(self) -> Self {
        self.chooses(DeletePolicy::OrphanOnDelete)
    }

    /// Not ready before its status has the observed generation. `status-hint: has-observed-generation`.
    pub fn has_observed_generation(self) -> Self {
        self.hints("has-observed-generation")
    }

    /// Not ready before its status has the condition `Ready`. `status-hint: has-ready-condition`.
    pub fn has_ready_condition(self) -> Self {
        self.hints("has-ready-condition")
    }

    /// Not ready before these conditions are true. `status-hint: conditions=A;B`.
    pub fn has_conditions(self, types: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.hints(&format!("conditions={}", joined(types, ";")))
    }

    /// Sets these fields at creation, and leaves them to others then. They are JSON pointers, `/spec/replicas`.
    /// `ignore-fields`.
    pub fn ignore_fields(self, pointers: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.says(IGNORE_FIELDS, joined(pointers, ","))
    }

    fn chooses<C: Choice>(self, choice: C) -> Self {
        self.says(C::NAME, choice.word().to_owned())
    }

    fn hints(self, hint: &str) -> Self {
        let before = self.0.words.iter().find(|(word, _)| *word == STATUS_HINT);
        let hints = before.map_or_else(|| hint.to_owned(), |(_, before)| format!("{before},{hint}"));
        self.says(STATUS_HINT, hints)
    }

    fn says(self, word: &'static str, value: String) -> Self {
        self.0.words.retain(|(before, _)| *before != word);
        self.0.words.push((word, value));
        self
    }
}

/// Kind, namespace and name, as far as the object has them.
pub(super) fn described(object: &DynamicObject) -> String {
    let kind = object.types.as_ref().map_or("object", |types| types.kind.as_str());
    let generated = object.metadata.generate_name.as_ref().map(|name| format!("{name}…"));
    let name = object.metadata.name.clone().or(generated).unwrap_or_else(|| "without a name".to_owned());
    match &object.metadata.namespace {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

fn joined(words: impl IntoIterator<Item = impl AsRef<str>>, separator: &str) -> String {
    let words: Vec<_> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
    words.join(separator)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        ByteString,
        api::core::v1::{ConfigMap, Secret},
    };
    use kube::core::ApiResource;
    use serde_json::json;

    use super::*;
    use crate::{
        dependent::set::policies::{Hints, Policies},
        resource::MarkNames,
    };

    fn named(name: &str) -> ObjectMeta {
        ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
    }

    fn map(name: &str) -> ConfigMap {
        ConfigMap { metadata: named(name), ..ConfigMap::default() }
    }

    fn read(objects: Objects) -> Vec<SetObject> {
        let (marks, defaults) = (MarkNames::default(), Policies::default());
        objects.read(&Rules { prefix: "shop.io", marks: &marks, defaults: &defaults })
    }

    /// What one word does to the policies of an object without any.
    fn after(word: impl FnOnce(Pushed<'_>) -> Pushed<'_>) -> Policies {
        let mut objects = Objects::new();
        word(objects.push(map("a")));
        let read = read(objects).remove(0).reading;
        assert_eq!((read.faults, read.warnings), (Vec::<String>::new(), Vec::<String>::new()));
        read.policies
    }

    #[test]
    fn objects_of_all_types_get_one_form_and_stay_in_order() {
        let mut objects = Objects::new();
        let data = [("a".to_owned(), ByteString(b"hidden".to_vec()))].into();
        objects.push(Secret { metadata: named("admin"), data: Some(data), ..Secret::default() });
        let page = ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("shop.io", "v1", "Page"));
        objects.push(DynamicObject::new("start", &page).within("shop").data(json!({ "spec": { "a": 1 } })));
        objects.extend(vec![map("b")]);
        objects.extend(Objects::from(vec![map("c")]));
        assert_eq!((objects.len(), objects.is_empty(), Objects::new().is_empty()), (4, false, true));

        let secret = objects.find("v1", "Secret", "admin").expect("it is there");
        assert_eq!(
            json!(secret),
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "admin" }, "data": { "a": "aGlkZGVu" } })
        );
        assert_eq!(objects.find("shop.io/v1", "Page", "start").expect("it is there").data["spec"]["a"], 1);
        for (version, kind, name) in
            [("v2", "Secret", "admin"), ("v1", "ConfigMap", "admin"), ("v1", "Secret", "a")]
        {
            assert!(objects.find(version, kind, name).is_none(), "{version} {kind} {name}");
        }
        assert_eq!(
            format!("{objects:?}"),
            r#"["Secret admin", "Page shop/start", "ConfigMap b", "ConfigMap c"]"#
        );

        for object in &mut objects {
            object.metadata.namespace = Some("shop".to_owned());
        }
        let is_within = |object: &DynamicObject| object.metadata.namespace.as_deref() == Some("shop");
        assert_eq!((&objects).into_iter().filter(|object| is_within(object)).count(), 4);
    }

    #[test]
    fn each_word_is_its_annotation() {
        let usual = Policies::default;
        assert_eq!(after(|it| it), usual());
        assert_eq!(after(|it| it.wave(-3)), Policies { apply_order: -3, ..usual() });
        assert_eq!(after(|it| it.delete_order(7)), Policies { delete_order: 7, ..usual() });
        assert_eq!(after(|it| it.purged_after(2)), Policies { purge_order: Some(2), ..usual() });
        for adoption in [Adoption::Never, Adoption::IfUnowned, Adoption::Always] {
            assert_eq!(after(|it| it.adopt(adoption)), Policies { adoption, ..usual() });
        }
        let reconcile = |reconcile| Policies { reconcile, ..usual() };
        assert_eq!(after(|it| it.create_only()), reconcile(ReconcilePolicy::Once));
        assert_eq!(after(|it| it.with_component()), reconcile(ReconcilePolicy::OnObjectOrComponentChange));
        let update = |update| Policies { update, ..usual() };
        assert_eq!(after(|it| it.override_fields()), update(UpdatePolicy::SsaOverride));
        assert_eq!(after(|it| it.replace()), update(UpdatePolicy::Replace));
        assert_eq!(after(|it| it.recreate()), update(UpdatePolicy::Recreate));
        let delete = |delete| Policies { delete, ..usual() };
        assert_eq!(after(|it| it.orphan()), delete(DeletePolicy::Orphan));
        assert_eq!(after(|it| it.orphan_on_apply()), delete(DeletePolicy::OrphanOnApply));
        assert_eq!(after(|it| it.orphan_on_delete()), delete(DeletePolicy::OrphanOnDelete));
        let hints = |hints| Policies { hints, ..usual() };
        assert_eq!(
            after(|it| it.has_observed_generation()),
            hints(Hints { observed_generation: true, ..Hints::default() })
        );
        assert_eq!(
            after(|it| it.has_ready_condition()),
            hints(Hints { ready_condition: true, ..Hints::default() })
        );
        let ignore_fields = ["/spec/replicas".to_owned(), "/data/a~1b".to_owned()].to_vec();
        let ignoring = after(|it| it.ignore_fields(&ignore_fields));
        assert_eq!(ignoring, Policies { ignore_fields, ..usual() });
        let all = after(|it| it.has_conditions(["A", "B"]).has_observed_generation().has_ready_condition());
        let conditions = ["A".to_owned(), "B".to_owned()].to_vec();
        assert_eq!(
            all,
            hints(Hints { observed_generation: true, ready_condition: true, conditions }),
            "hints add up"
        );
        assert_eq!(
            after(|it| it.wave(1).recreate().wave(2).replace()),
            Policies { apply_order: 2, update: UpdatePolicy::Replace, ..usual() }
        );
    }

    #[test]
    fn words_precede_annotations_and_survive_in_another_set() {
        let mut objects = Objects::new();
        let annotations =
            [("shop.io/apply-order", "1"), ("shop.io/delete-order", "2"), ("other.io/apply-order", "9")];
        let annotations = annotations.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let metadata = ObjectMeta { annotations: Some(annotations), ..named("a") };
        objects.push(ConfigMap { metadata, ..ConfigMap::default() }).wave(5);
        let mut more = Objects::from(vec![map("b")]);
        more.extend(objects.clone());
        let read = read(more);
        let written = |key: &str| read[1].object.metadata.annotations.as_ref()?.get(key).map(String::as_str);
        assert_eq!(
            ["shop.io/apply-order", "shop.io/delete-order", "other.io/apply-order"].map(written),
            [Some("5"), Some("2"), Some("9")]
        );
        let policies = &read[1].reading.policies;
        assert_eq!((policies.apply_order, policies.delete_order), (5, 2));
        assert_eq!(read[0].object.metadata.annotations, None, "an object without words gets none");
    }

    #[test]
    fn defaults_hold_where_nothing_else_is_said() {
        let mut objects = Objects::new();
        objects.push(map("b")).wave(1);
        let annotations = [("shop.io/apply-order".to_owned(), "2".to_owned())].into();
        let metadata = ObjectMeta { annotations: Some(annotations), ..named("c") };
        objects.push(ConfigMap { metadata, ..ConfigMap::default() }).recreate();
        objects.defaults(|object| object.wave(9).replace());
        let read = read(objects);
        let said = |at: usize| (read[at].reading.policies.apply_order, read[at].reading.policies.update);
        assert_eq!([said(0), said(1)], [(1, UpdatePolicy::Replace), (2, UpdatePolicy::Recreate)]);
    }

    #[test]
    fn an_object_that_cannot_be_serialized_is_not_lost() {
        #[derive(Clone, Debug, serde::Deserialize)]
        struct Odd(ConfigMap);

        impl serde::Serialize for Odd {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("too odd"))
            }
        }

        impl Resource for Odd {
            type DynamicType = ();
            type Scope = k8s_openapi::NamespaceResourceScope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                "Odd".into()
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                "shop.io".into()
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                "v1".into()
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                "odds".into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.0.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.0.metadata
            }
        }

        let mut objects = Objects::new();
        objects.push(Odd(map("a")));
        assert!(objects.find("shop.io/v1", "Odd", "a").is_some(), "it keeps its identity");
        let broken = read(objects).remove(0).broken;
        assert_eq!(broken.as_deref(), Some("it can't be serialized: too odd"));
    }

    #[test]
    fn objects_from_yaml_know_their_places_and_a_mistake_is_permanent() {
        let text = "apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\nmetadata: {annotations: {shop.io/apply-order: '3'}}\n";
        let read = read(Objects::from_yaml(text).expect("it is YAML"));
        let place = |at: usize| read[at].place.expect("from YAML").to_string();
        assert_eq!([place(0), place(1)], ["document 1, line 1", "document 2, line 4"]);
        assert_eq!(read[1].reading.policies.apply_order, 3);
        let error = Objects::from_yaml("a: 1").expect_err("not an object");
        assert_eq!(error.to_string(), "document 1, line 1: there is no text in `apiVersion`");
    }
}
