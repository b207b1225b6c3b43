//! Kubernetes' own kinds that this server has, in the form of the real one's discovery.

use super::{Behaviour, Kind};

/// Group, version, plural, singular, kind, short names, behaviour.
struct Row(&'static str, &'static str, &'static str, &'static str, &'static str, &'static str, u8);

const CLUSTER: u8 = 1;
const STATUS: u8 = 2;
const PUT_CREATES: u8 = 8;
const SHOWS_DELETED: u8 = 16;

/// The kinds, in the order of the discovery.
pub(in crate::in_process) fn all() -> impl Iterator<Item = Kind> {
    ROWS.iter().map(|Row(group, version, plural, singular, kind, short_names, flags)| {
        let has = |flag: u8| flags & flag != 0;
        let text = |text: &str| text.to_owned();
        Kind {
            group: text(group),
            version: text(version),
            plural: text(plural),
            singular: text(singular),
            kind: text(kind),
            list_kind: format!("{kind}List"),
            short_names: short_names.split(',').filter(|name| !name.is_empty()).map(text).collect(),
            namespaced: !has(CLUSTER),
            status: has(STATUS),
            scale: None,
            storage_version: text(version),
            selectable: Vec::new(),
            behaviour: Behaviour {
                put_creates: has(PUT_CREATES),
                shows_deleted: has(SHOWS_DELETED),
                custom: false,
            },
            rereads: *group == "events.k8s.io",
            definition: 0,
            schema: std::sync::OnceLock::new(),
            versions: std::sync::Arc::default(),
        }
    })
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row("", "v1", "configmaps", "configmap", "ConfigMap", "cm", 0),
    Row("", "v1", "endpoints", "endpoints", "Endpoints", "ep", PUT_CREATES),
    Row("", "v1", "events", "event", "Event", "ev", PUT_CREATES),
    Row("", "v1", "limitranges", "limitrange", "LimitRange", "limits", PUT_CREATES),
    Row("", "v1", "namespaces", "namespace", "Namespace", "ns", CLUSTER | STATUS),
    Row("", "v1", "nodes", "node", "Node", "no", CLUSTER | STATUS),
    Row("", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", "pvc", STATUS | SHOWS_DELETED),
    Row("", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", "pv", CLUSTER | STATUS | SHOWS_DELETED),
    Row("", "v1", "pods", "pod", "Pod", "po", STATUS | SHOWS_DELETED),
    Row("", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", "rc", STATUS),
    Row("", "v1", "resourcequotas", "resourcequota", "ResourceQuota", "quota", STATUS | SHOWS_DELETED),
    Row("", "v1", "secrets", "secret", "Secret", "", 0),
    Row("", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", "sa", SHOWS_DELETED),
    Row("", "v1", "services", "service", "Service", "svc", STATUS | PUT_CREATES | SHOWS_DELETED),
    Row("apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", "", 0),
    Row("apps", "v1", "daemonsets", "daemonset", "DaemonSet", "ds", STATUS),
    Row("apps", "v1", "deployments", "deployment", "Deployment", "deploy", STATUS),
    Row("apps", "v1", "replicasets", "replicaset", "ReplicaSet", "rs", STATUS),
    Row("apps", "v1", "statefulsets", "statefulset", "StatefulSet", "sts", STATUS),
    Row("batch", "v1", "cronjobs", "cronjob", "CronJob", "cj", STATUS),
    Row("batch", "v1", "jobs", "job", "Job", "", STATUS),
    Row("networking.k8s.io", "v1", "ingressclasses", "ingressclass", "IngressClass", "", CLUSTER),
    Row("networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", "ing", STATUS),
    Row("networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", "netpol", 0),
    Row("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", "", CLUSTER | PUT_CREATES),
    Row("rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", "", CLUSTER | PUT_CREATES),
    Row("rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", "", PUT_CREATES),
    Row("rbac.authorization.k8s.io", "v1", "roles", "role", "Role", "", PUT_CREATES),
    Row("policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", "pdb", STATUS),
    Row("autoscaling", "v2", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", "hpa", STATUS),
    Row("coordination.k8s.io", "v1", "leases", "lease", "Lease", "", PUT_CREATES),
    Row("events.k8s.io", "v1", "events", "event", "Event", "ev", PUT_CREATES),
    Row("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition", "crd,crds", CLUSTER | STATUS),
    Row("storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", "sc", CLUSTER | SHOWS_DELETED),
    Row("scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", "pc", CLUSTER),
    Row("discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", "", 0),
    // These are stored without effect.
    Row("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", "", CLUSTER),
    Row("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", "", CLUSTER),
    Row("apiregistration.k8s.io", "v1", "apiservices", "apiservice", "APIService", "", CLUSTER | STATUS),
    Row("node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", "", CLUSTER | PUT_CREATES),
];

/// Groups of the real server that are entirely missing here.
pub(in crate::in_process) const MISSING_GROUPS: &[&str] =
    &["authentication.k8s.io", "certificates.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io"];

/// Kinds of the real server that are missing in the groups that exist here.
const MISSING: &[(&str, &[&str])] = &[
    ("", &["bindings", "componentstatuses", "podtemplates"]),
    (
        "admissionregistration.k8s.io",
        &[
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
        ],
    ),
    ("autoscaling", &["horizontalpodautoscalers"]),
    ("networking.k8s.io", &["ipaddresses", "servicecidrs"]),
    (
        "storage.k8s.io",
        &["csidrivers", "csinodes", "csistoragecapacities", "volumeattachments", "volumeattributesclasses"],
    ),
];

/// Whether the real server has a resource that this one doesn't have.
pub(in crate::in_process) fn is_missing(group: &str, plural: &str) -> bool {
    let of_group = MISSING.iter().filter(|(missing, _)| *missing == group);
    MISSING_GROUPS.contains(&group)
        || of_group.flat_map(|(_, plurals)| *plurals).any(|missing| *missing == plural)
}

/// The fields, besides name and namespace, by which objects of a kind can be selected.
pub(super) fn selectable(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "Secret") => &["type"],
        ("", "Event") => &[
            "involvedObject.apiVersion",
            "involvedObject.fieldPath",
            "involvedObject.kind",
            "involvedObject.name",
            "involvedObject.namespace",
            "involvedObject.resourceVersion",
            "involvedObject.uid",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "Event") => &[
            "reason",
            "regarding.apiVersion",
            "regarding.fieldPath",
            "regarding.kind",
            "regarding.name",
            "regarding.namespace",
            "regarding.resourceVersion",
            "regarding.uid",
            "reportingController",
            "type",
        ],
        ("", "Namespace") => &["status.phase"],
        ("", "Node") => &["spec.unschedulable"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("batch", "Job") => &["status.successful"],
        ("", "Pod") => &[
            "spec.host",
            "spec.hostNetwork",
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.nominatedNodeName",
            "status.podIP",
        ],
        _ => &[],
    }
}
