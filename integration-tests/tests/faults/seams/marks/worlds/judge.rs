//! Whether an operator's writes were allowed. By the rules of ownership, and by the world's knowledge of each object:
//! who has made it, for whom, and with which marks. The library isn't asked.

use http::Method;
use integration_tests::prelude::*;
use operator_core::dependent::Adoption;

use super::{
    log::{self, Deed, NODE, OWNER, is_going, marks, references, text, uid},
    versions::{Kind, NodeOf, Spec, Version},
};

pub(super) const OPERATOR: &str = "pages";

/// An operator may act upon what it saw so long ago.
const LAG: Duration = Duration::from_millis(100);

/// A primary as it was at some time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Primary {
    /// Which operator's.
    pub(super) of: usize,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// None while it is being deleted.
    pub(super) spec: Option<Spec>,
}

/// How an object came to be what it is: as an operator has written it last.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) by: usize,
    pub(super) node: &'static str,
    pub(super) primary: Primary,
    pub(super) marks: [String; 4],
}

/// What is known of objects, by their uids.
#[derive(Default)]
pub(super) struct Known {
    made: BTreeMap<String, Made>,
    /// The same of earlier states, by their marks.
    as_marked: BTreeMap<(String, [String; 4]), Made>,
    /// Copies that a backup has brought back: of which object, and with which marks. What was written before a backup may be judged
    /// only after that.
    copies: BTreeMap<String, (String, [String; 4])>,
}

impl Known {
    pub(super) fn get(&self, uid: &str) -> Option<&Made> {
        let of_copy = || {
            let copied = self.copies.get(uid)?;
            // Somebody may have changed its marks.
            self.as_marked.get(copied).or_else(|| self.made.get(&copied.0))
        };
        self.made.get(uid).or_else(of_copy)
    }

    fn insert(&mut self, uid: &str, made: Made) {
        self.as_marked.insert((uid.to_owned(), made.marks.clone()), made.clone());
        self.made.insert(uid.to_owned(), made);
    }

    /// A backup has brought back `object` under another uid.
    pub(super) fn insert_copy(&mut self, uid: String, object: &Value) {
        let own = self::uid(object);
        let of = match self.copies.get(own) {
            Some((first, _)) if !self.made.contains_key(own) => first.clone(),
            _ => own.to_owned(),
        };
        self.copies.insert(uid, (of, marks(object)));
    }
}

/// One who wants an object: a node for a primary.
type Claim<'w> = (&'w NodeOf, &'w Primary);

/// Judges what was done since the last time, while `version` ran and primaries were as `lately` says.
pub(super) struct Judge<'w> {
    pub(super) version: &'w Version,
    pub(super) lately: &'w [Primary],
    pub(super) known: &'w mut Known,
}

impl<'w> Judge<'w> {
    /// What was wrong.
    pub(super) fn judge(&mut self, deeds: &[Deed]) -> Vec<String> {
        let mut wrongs = Vec::new();
        for (at, deed) in deeds.iter().enumerate() {
            let Some(by) = deed.by else { continue };
            let wrong = match (&deed.before, &deed.after) {
                _ if !(200..300).contains(&deed.code) => Ok(()),
                (Some(before), after) if deed.method == Method::DELETE => {
                    let effect = after.as_ref().is_none_or(|after| is_going(after) && !is_going(before));
                    if effect { self.removed(by, deed, before) } else { Ok(()) }
                }
                (before, Some(after)) if before != &deed.after => {
                    let seen = deeds[..at].iter().filter(|earlier| {
                        earlier.by != deed.by
                            && deed.at - earlier.at <= LAG
                            && (earlier.kind, &earlier.namespace, &earlier.name)
                                == (deed.kind, &deed.namespace, &deed.name)
                    });
                    let mut states: Vec<Option<&Value>> = vec![before.as_deref()];
                    states.extend(seen.map(|earlier| earlier.before.as_deref()));
                    self.wrote(by, deed, &states, after)
                }
                _ => Ok(()),
            };
            if let Err(why) = wrong {
                wrongs.push(format!(
                    "{} {}/{}/{} by operator {by}: {why}\n      before: {}\n      after:  {}",
                    deed.method,
                    deed.kind.plural(),
                    deed.namespace,
                    deed.name,
                    shown(deed.before.as_deref()),
                    shown(deed.after.as_deref()),
                ));
            }
        }
        wrongs
    }

    /// Who has wanted an object under that name lately.
    fn claims(&self, by: usize, deed: &Deed) -> Vec<Claim<'w>> {
        let (version, lately) = (self.version, self.lately);
        let of = lately.iter().filter(|primary| primary.of == by);
        of.flat_map(|primary| claims(version, primary, deed.kind, &deed.namespace, &deed.name)).collect()
    }

    fn removed(&self, by: usize, deed: &Deed, before: &Value) -> Result<(), String> {
        let made = self.known.get(uid(before)).ok_or("no node has made it")?;
        if made.by != by {
            return Err(format!("operator {} has made it", made.by));
        }
        if marks(before) != made.marks {
            return Err(format!("its marks aren't those that it was given, which were {:?}", made.marks));
        }
        let of: Vec<_> = self.lately.iter().filter(|primary| primary.uid == made.primary.uid).collect();
        if of.is_empty() {
            return Err("it was made for a primary that there is no more".to_owned());
        }
        if controller_of(before).is_some_and(|owner| owner != made.primary.uid) {
            return Err("another object controls it".to_owned());
        }
        let declared = self.version.node(made.node).is_some_and(|node| node.kind == deed.kind);
        let wanted = |primary: &&&Primary| {
            let mut claims = claims(self.version, primary, deed.kind, &deed.namespace, &deed.name);
            claims.any(|(node, _)| !declared || node.name == made.node)
        };
        match of.iter().filter(wanted).count() == of.len() {
            true => Err("it is wanted".to_owned()),
            false => Ok(()),
        }
    }

    fn wrote(
        &mut self,
        by: usize,
        deed: &Deed,
        seen: &[Option<&Value>],
        after: &Value,
    ) -> Result<(), String> {
        let claims = self.claims(by, deed);
        let mut why = "nobody wants it".to_owned();
        let mut found = None;
        // The last one first: of two incarnations of one primary, the object is the later one's.
        for (node, primary) in claims.iter().rev() {
            let may = |object: &Option<&Value>| {
                object.is_none_or(|object| whose(object, node, primary, self.version, self.known).is_ok())
            };
            let (marked, node_marked) = (text(after, "labels", OWNER), text(after, "labels", NODE));
            let is_it = marked == Some(&primary.uid) && node_marked == Some(node.name);
            if seen.iter().any(may) && is_it {
                found = Some((*node, *primary));
                break;
            }
            if let Some(object) = seen[0] {
                why = whose(object, node, primary, self.version, self.known).err().unwrap_or(why);
            }
        }
        let (node, primary) = found.ok_or(why)?;
        let made = Made { by, node: node.name, primary: primary.clone(), marks: marks(after) };
        let touched =
            seen[0].map(|before| (without_ours(before, &primary.uid), without_ours(after, &primary.uid)));
        self.known.insert(uid(after), made);
        match touched {
            Some((before, after)) if before != after => {
                Err(format!("it has changed what isn't its own: {before} is {after} now"))
            }
            _ => Ok(()),
        }
    }
}

/// Who of this primary's nodes wants an object under that name.
pub(super) fn claims<'w>(
    version: &'w Version,
    primary: &'w Primary,
    kind: Kind,
    namespace: &str,
    name: &str,
) -> impl Iterator<Item = Claim<'w>> {
    version
        .nodes
        .iter()
        .filter(move |node| {
            let place = if node.shared { super::versions::SHARED } else { &primary.namespace };
            let wants = |spec| node.wants(&primary.name, spec).iter().any(|wanted| wanted == name);
            node.kind == kind && place == namespace && primary.spec.as_ref().is_some_and(wants)
        })
        .map(move |node| (node, primary))
}

/// Whether a node may write an object that it wants, or why not.
pub(super) fn whose(
    object: &Value,
    node: &NodeOf,
    primary: &Primary,
    version: &Version,
    known: &Known,
) -> Result<(), String> {
    let allowed = |adoption: Adoption, why: &str| match node.adoption == adoption {
        true => Ok(()),
        false => Err(why.to_owned()),
    };
    let references = references(object);
    let referred = references.iter().any(|owner| owner["uid"] == *primary.uid);
    let is_earlier = |owner: &Value| {
        let here = object["metadata"]["namespace"] == *primary.namespace;
        here && owner["kind"] == "TestResource"
            && owner["name"] == *primary.name
            && owner["uid"] != *primary.uid
    };
    let others = || references.iter().filter(|owner| owner["uid"] != *primary.uid);
    if others().any(|owner| owner["controller"] == true && !is_earlier(owner)) {
        return allowed(Adoption::Always, "another object controls it");
    }
    if !referred && others().any(is_earlier) {
        return Err("the collector will take it".to_owned());
    }
    let label = |key| text(object, "labels", key);
    let (controller, of_node, owner) = (label(log::CONTROLLER), label(NODE), label(OWNER));
    let is_ours = controller == Some(OPERATOR);
    let managers = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let has_written = managers.into_iter().any(|entry| entry["manager"] == OPERATOR);
    if referred || owner == Some(&primary.uid) {
        return match of_node {
            _ if controller.is_some() && !is_ours => allowed(Adoption::Always, "of another controller"),
            Some(of) if of == node.name && is_ours => Ok(()),
            Some(of) if of != node.name => {
                // What its node no longer wants, another one may have.
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                let gives_up = |of: &NodeOf| {
                    let made = known.get(uid(object)).filter(|made| made.marks == marks(object));
                    let wants =
                        |spec: &Spec| of.wants(&primary.name, spec).iter().any(|wanted| wanted == name);
                    made.is_some_and(|made| made.node == of.name) && !primary.spec.as_ref().is_some_and(wants)
                };
                match is_ours && version.node(of).is_none_or(|of| of.kind != node.kind || gives_up(of)) {
                    true => Ok(()),
                    false => allowed(Adoption::Always, "another node's"),
                }
            }
            _ if has_written => Ok(()),
            _ => allowed(Adoption::Always, "the owner's, but no node's"),
        };
    }
    if !references.is_empty() {
        return allowed(Adoption::Always, "another object's");
    }
    if is_ours && of_node == Some(node.name) && owner.is_some() {
        let made = known.get(uid(object)).is_some_and(|made| {
            let of = (&made.primary.namespace, &made.primary.name);
            made.node == node.name
                && of == (&primary.namespace, &primary.name)
                && marks(object)[3] == made.marks[3]
        });
        return if made { Ok(()) } else { allowed(Adoption::Always, "another primary's") };
    }
    if controller.is_some() || of_node.is_some() || owner.is_some() {
        return allowed(Adoption::Always, "half marked, and no owner's");
    }
    let annotation = |key: &str| text(object, "annotations", &format!("io.javaoperatorsdk/primary-{key}"));
    let own = object["metadata"]["namespace"].as_str();
    match annotation("name") {
        None => match node.adoption {
            Adoption::Never => Err("nobody's".to_owned()),
            Adoption::IfUnowned | Adoption::Always => Ok(()),
        },
        Some(name)
            if has_written
                && name == primary.name
                && annotation("namespace").or(own) == Some(&primary.namespace) =>
        {
            Ok(())
        }
        Some(_) => allowed(Adoption::Always, "annotated as another primary's"),
    }
}

fn controller_of(object: &Value) -> Option<&str> {
    references(object).iter().find(|owner| owner["controller"] == true)?["uid"].as_str()
}

/// What of an object a node has no business to change.
fn without_ours(object: &Value, owner: &str) -> Value {
    let mut object = object.clone();
    let metadata = &mut object["metadata"];
    for field in ["resourceVersion", "generation", "managedFields"] {
        metadata.as_object_mut().map(|fields| fields.remove(field));
    }
    if let Some(owners) = metadata["ownerReferences"].as_array_mut() {
        owners.retain(|of| of["uid"] != *owner);
    }
    for of in ["labels", "annotations"] {
        if let Some(texts) = metadata[of].as_object_mut() {
            texts.retain(|key, _| {
                !key.starts_with("operator-core.io/") && !key.starts_with("io.javaoperatorsdk/")
            });
        }
    }
    object["data"].as_object_mut().map(|data| data.remove("value"));
    without_empty(object)
}

fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| (key, without_empty(value)));
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// An object without what nobody wants to read.
fn shown(object: Option<&Value>) -> String {
    let Some(object) = object else { return "nothing".to_owned() };
    let of = &object["metadata"];
    let managers = of["managedFields"].as_array().into_iter().flatten().map(|entry| &entry["manager"]);
    let managers: Vec<_> = managers.collect();
    format!(
        "uid {} labels {} annotations {} owners {} data {} managers {managers:?}",
        of["uid"], of["labels"], of["annotations"], of["ownerReferences"], object["data"],
    )
}
