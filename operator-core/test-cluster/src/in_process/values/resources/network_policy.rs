//! NetworkPolicies. Pure.

use serde_json::Value;

use super::{
    super::{
        common::selector,
        errors::Errors,
        names,
        path::Path,
        read::{at, count, int, items, part, text},
    },
    ip,
};

const SPEC: Path<'static> = Path::root("spec");
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

pub(super) fn policy(policy: &Value, errors: &mut Errors) {
    values(policy, &[], errors);
}

pub(super) fn changed(new: &Value, old: &Value, errors: &mut Errors) {
    let mut known = Vec::new();
    for (direction, peers) in DIRECTIONS {
        for (_, rule) in items(at(old, "spec"), direction) {
            for (_, block) in items(rule, peers).filter_map(|(at, peer)| Some((at, part(peer, "ipBlock")?))) {
                known.push(text(block, "cidr"));
                known.extend(items(block, "except").filter_map(|(_, except)| except.as_str()));
            }
        }
    }
    values(new, &known, errors);
}

fn values(policy: &Value, known: &[&str], errors: &mut Errors) {
    let spec = at(policy, "spec");
    selector(errors, &SPEC.child("podSelector"), at(spec, "podSelector"));
    for (direction, peers) in DIRECTIONS {
        for (index, rule) in items(spec, direction) {
            let all = SPEC.child(direction);
            let path = all.index(index);
            for (index, one) in items(rule, "ports") {
                port(one, &path.child("ports").index(index), errors);
            }
            for (index, one) in items(rule, peers) {
                peer(one, &path.child(peers).index(index), known, errors);
            }
        }
    }
    let path = SPEC.child("policyTypes");
    if count(spec, "policyTypes") > 2 {
        return errors.invalid(&path, at(spec, "policyTypes"), "may not specify more than two policyTypes");
    }
    for (index, one) in items(spec, "policyTypes") {
        let one = one.as_str().unwrap_or_default();
        if !["Ingress", "Egress"].contains(&one) {
            errors.not_supported(&path.index(index), one, &["Ingress", "Egress"]);
        }
    }
}

fn port(port: &Value, path: &Path<'_>, errors: &mut Errors) {
    if let Some(protocol) = at(port, "protocol").as_str()
        && !["TCP", "UDP", "SCTP"].contains(&protocol)
    {
        errors.not_supported(&path.child("protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    }
    let (field, end_field, end) = (path.child("port"), path.child("endPort"), int(port, "endPort"));
    match (at(port, "port"), end) {
        (Value::Null, None) => {}
        (Value::Null, Some(end)) => {
            errors.invalid(&end_field, end, "may not be specified when `port` is not specified");
        }
        (Value::String(name), end) => {
            if let Some(end) = end {
                errors.invalid(&end_field, end, "may not be specified when `port` is non-numeric");
            }
            errors.all_invalid(&field, name, &names::port_name(name));
        }
        (number, end) => {
            let number = number.as_i64().unwrap_or_default();
            names::port_number(number).iter().for_each(|why| errors.invalid(&field, number, why));
            if let Some(end) = end {
                if end < number {
                    errors.invalid(&end_field, number, "must be greater than or equal to `port`");
                }
                names::port_number(end).iter().for_each(|why| errors.invalid(&end_field, end, why));
            }
        }
    }
}

fn peer(peer: &Value, path: &Path<'_>, known: &[&str], errors: &mut Errors) {
    let selectors = ["podSelector", "namespaceSelector"];
    let given: Vec<_> = selectors.into_iter().filter_map(|field| Some((field, part(peer, field)?))).collect();
    for (field, one) in &given {
        selector(errors, &path.child(field), one);
    }
    let block = part(peer, "ipBlock");
    if let Some(block) = block {
        ip_block(block, &path.child("ipBlock"), known, errors);
    }
    match (given.len(), block) {
        (0, None) => errors.required(path, "must specify a peer"),
        (1.., Some(_)) => errors.forbidden(path, "may not specify both ipBlock and another peer"),
        _ => {}
    }
}

fn ip_block(block: &Value, path: &Path<'_>, known: &[&str], errors: &mut Errors) {
    let range = text(block, "cidr");
    if range.is_empty() {
        return errors.required(&path.child("cidr"), "");
    }
    let Some(range) = ip::range(errors, &path.child("cidr"), range, known) else { return };
    for (index, except) in items(block, "except") {
        let all = path.child("except");
        let (path, except) = (all.index(index), except.as_str().unwrap_or_default());
        let part = ip::range(errors, &path, except, known);
        if part.is_some_and(|part| !range.has_part(&part)) {
            errors.invalid(&path, except, "must be a strict subset of `cidr`");
        }
    }
}
