//! Lists, sets and maps that expressions make.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    super::{
        equal::{contains, equal},
        value::{Error, List, Result, Val},
    },
    apply as call, count,
};

pub(super) fn apply<'v>(function: &str, is_member: bool, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    if !is_member {
        return other(function, values);
    }
    let [Val::List(list), rest @ ..] = values else { return None };
    let items = &list.items;
    Some(match (function, rest) {
        ("isSorted", []) => sorted(items),
        ("sum", []) => sum(items),
        ("max", []) => extreme(items, "max", std::cmp::Ordering::is_gt),
        ("min", []) => extreme(items, "min", std::cmp::Ordering::is_lt),
        ("indexOf", [item]) => position(items.iter().enumerate(), item),
        ("lastIndexOf", [item]) => position(items.iter().enumerate().rev(), item),
        ("slice", [Val::Int(from), Val::Int(to)]) => slice(items, *from, *to),
        ("flatten", []) => Ok(Val::list(flatten(items, 1))),
        ("flatten", [Val::Int(depth)]) if *depth < 0 => Err(Error::new("level must be non-negative")),
        ("flatten", [Val::Int(depth)]) => Ok(Val::list(flatten(items, *depth))),
        ("sort", []) => sort(items, items),
        ("@sortByAssociatedKeys", [Val::List(keys)]) => sort(items, &keys.items),
        ("reverse", []) => Ok(Val::list(items.iter().rev().cloned().collect())),
        ("distinct", []) => distinct(items),
        ("first", []) => Ok(Val::Optional(items.first().cloned().map(Arc::new))),
        ("last", []) => Ok(Val::Optional(items.last().cloned().map(Arc::new))),
        ("unwrapOpt", []) => Ok(present(items)),
        _ => return None,
    })
}

fn other<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    Some(match (function, values) {
        ("lists.range", [Val::Int(to)]) if *to > 1_000_000 => Err(Error::new("lists.range: too many items")),
        ("lists.range", [Val::Int(to)]) => Ok(Val::list((0..*to).map(Val::Int).collect())),
        ("optional.unwrap", [Val::List(list)]) => Ok(present(&list.items)),
        ("sets.contains", [Val::List(all), Val::List(some)]) => all_in(some, all).map(Val::Bool),
        ("sets.equivalent", [Val::List(one), Val::List(two)]) => {
            all_in(one, two).and_then(|there| Ok(Val::Bool(there && all_in(two, one)?)))
        }
        ("sets.intersects", [Val::List(one), Val::List(two)]) => {
            let mut any = Ok(false);
            for item in &one.items {
                match contains(&two.items, item) {
                    Ok(false) => {}
                    found => {
                        any = found;
                        break;
                    }
                }
            }
            any.map(Val::Bool)
        }
        ("cel.@mapInsert", [map, key, value]) => insert(map, vec![(key.clone(), Ok(value.clone()))]),
        ("cel.@mapInsert", [map, more]) => insert(map, more.entries()?),
        _ => return None,
    })
}

fn insert<'v>(map: &Val<'v>, more: Vec<(Val<'v>, Result<Val<'v>>)>) -> Result<Val<'v>> {
    let mut entries = match map {
        Val::Map(map) => (**map).clone(),
        _ => BTreeMap::new(),
    };
    for (key, value) in more {
        let at = key.key().ok_or_else(|| Error::new("unsupported key type"))?;
        if entries.contains_key(&at) {
            return Err(Error::new(format!("insert failed: key {} already exists", super::show(&key))));
        }
        entries.insert(at, (key, value?));
    }
    Ok(Val::Map(Arc::new(entries)))
}

fn present<'v>(items: &[Val<'v>]) -> Val<'v> {
    let some = items.iter().filter_map(|item| match item {
        Val::Optional(value) => value.as_ref().map(|value| (**value).clone()),
        _ => None,
    });
    Val::list(some.collect())
}

fn all_in(some: &List<'_>, all: &List<'_>) -> Result<bool> {
    for item in &some.items {
        if !contains(&all.items, item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sorted<'v>(items: &[Val<'v>]) -> Result<Val<'v>> {
    for pair in items.windows(2) {
        if pair[0].compare(&pair[1])?.is_gt() {
            return Ok(Val::Bool(false));
        }
    }
    Ok(Val::Bool(true))
}

fn sum<'v>(items: &[Val<'v>]) -> Result<Val<'v>> {
    let Some(first) = items.first() else { return Ok(Val::Int(0)) };
    items[1..].iter().try_fold(first.clone(), |sum, item| call("_+_", false, &[sum, item.clone()]))
}

fn extreme<'v>(items: &[Val<'v>], name: &str, better: fn(std::cmp::Ordering) -> bool) -> Result<Val<'v>> {
    let (first, rest) =
        items.split_first().ok_or_else(|| Error::new(format!("{name} called on empty list")))?;
    let mut best = first;
    for item in rest {
        if better(item.compare(best)?) {
            best = item;
        }
    }
    Ok(best.clone())
}

fn position<'i, 'v: 'i>(
    items: impl Iterator<Item = (usize, &'i Val<'v>)>,
    wanted: &Val<'v>,
) -> Result<Val<'v>> {
    for (at, item) in items {
        if equal(item, wanted)? {
            return Ok(count(at));
        }
    }
    Ok(Val::Int(-1))
}

fn slice<'v>(items: &[Val<'v>], from: i64, to: i64) -> Result<Val<'v>> {
    let fail = |why: &str| Err(Error::new(format!("cannot slice({from}, {to}), {why}")));
    if from < 0 || to < 0 {
        return fail("negative indexes not supported");
    }
    if from > to {
        return fail("start index must be less than or equal to end index");
    }
    let place = |at: i64| usize::try_from(at).unwrap_or(usize::MAX);
    match items.get(place(from)..place(to)) {
        Some(part) => Ok(Val::list(part.to_vec())),
        None => fail(&format!("list is length {}", items.len())),
    }
}

fn flatten<'v>(items: &[Val<'v>], depth: i64) -> Vec<Val<'v>> {
    let mut flat = Vec::new();
    for item in items {
        match item {
            Val::List(inner) if depth > 0 => flat.extend(flatten(&inner.items, depth - 1)),
            other => flat.push(other.clone()),
        }
    }
    flat
}

fn sort<'v>(items: &[Val<'v>], keys: &[Val<'v>]) -> Result<Val<'v>> {
    let mut order: Vec<usize> = (0..items.len().min(keys.len())).collect();
    let mut failed = None;
    order.sort_by(|one, two| {
        keys[*one].compare(&keys[*two]).unwrap_or_else(|error| {
            failed = Some(error);
            std::cmp::Ordering::Equal
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(Val::list(order.into_iter().map(|at| items[at].clone()).collect())),
    }
}

fn distinct<'v>(items: &[Val<'v>]) -> Result<Val<'v>> {
    let mut once: Vec<Val<'v>> = Vec::new();
    for item in items {
        if !contains(&once, item)? {
            once.push(item.clone());
        }
    }
    Ok(Val::list(once))
}
