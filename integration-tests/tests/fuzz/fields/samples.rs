//! Valid values of types that can't be made of their required fields alone.

use integration_tests::prelude::*;

/// What another field of the same struct must be.
pub(super) enum Companion {
    Gone,
    Is(Value),
}

/// Fields with the type of another field of the same object, which is walked with all values.
pub(super) const AGAIN: &[(&str, &str)] = &[
    ("core.v1.PodSpec", "initContainers"),
    ("core.v1.Container", "readinessProbe"),
    ("core.v1.Container", "startupProbe"),
    ("core.v1.Lifecycle", "preStop"),
    ("core.v1.Affinity", "podAntiAffinity"),
    ("core.v1.EphemeralVolumeSource", "volumeClaimTemplate"),
    ("core.v1.PodStatus", "initContainerStatuses"),
    ("core.v1.PodStatus", "ephemeralContainerStatuses"),
    ("batch.v1.CronJobSpec", "jobTemplate"),
    ("apps.v1.StatefulSetSpec", "volumeClaimTemplates"),
    ("core.v1.PodSpec", "resources"),
];

/// Fields that are not looked into: a new Pod has none of these, or they are those of every object.
pub(super) const LEAVES: &[(&str, &str)] =
    &[("core.v1.PodSpec", "ephemeralContainers"), ("meta.v1.ObjectMeta", "managedFields")];

/// Of each of these only one field is set.
const UNIONS: &[(&str, &[&str])] = &[
    ("core.v1.Volume", &["name"]),
    ("core.v1.VolumeProjection", &[]),
    ("core.v1.LifecycleHandler", &[]),
    ("core.v1.EnvVarSource", &[]),
    ("core.v1.EnvFromSource", &["prefix"]),
    ("networking.v1.IngressBackend", &[]),
];

/// What the struct's other fields must be for one of them to be valid.
pub(super) fn companions(name: &str, field: &str) -> Vec<(String, Companion)> {
    let is = |sibling: &str, value: Value| vec![(sibling.to_owned(), Companion::Is(value))];
    let gone = |siblings: &[&str]| {
        let others = siblings.iter().filter(|sibling| **sibling != field);
        others.map(|sibling| ((*sibling).to_owned(), Companion::Gone)).collect::<Vec<_>>()
    };
    if let Some((_, kept)) = UNIONS.iter().find(|(union, kept)| *union == name && !kept.contains(&field)) {
        return match super::types() {
            Ok(types) => {
                let others = types.fields(name).keys().filter(|other| *other != field);
                let others = others.filter(|other| !kept.contains(&other.as_str()));
                others.map(|other| (other.clone(), Companion::Gone)).collect()
            }
            Err(_) => Vec::new(),
        };
    }
    match (name, field) {
        ("core.v1.Probe", "exec" | "grpc" | "httpGet" | "tcpSocket") => {
            gone(&["exec", "grpc", "httpGet", "tcpSocket"])
        }
        ("core.v1.EnvVar", "value") => gone(&["valueFrom"]),
        ("core.v1.EnvVar", "valueFrom") => gone(&["value"]),
        ("core.v1.DownwardAPIVolumeFile", "fieldRef" | "resourceFieldRef") => {
            gone(&["fieldRef", "resourceFieldRef"])
        }
        ("core.v1.SeccompProfile" | "core.v1.AppArmorProfile", "localhostProfile") => {
            is("type", json!("Localhost"))
        }
        ("core.v1.PersistentVolumeClaimSpec", "dataSourceRef") => gone(&["dataSource"]),
        ("networking.v1.ServiceBackendPort", "name") => gone(&["number"]),
        ("networking.v1.ServiceBackendPort", "number") => gone(&["name"]),
        ("networking.v1.NetworkPolicyPeer", "ipBlock") => gone(&["podSelector", "namespaceSelector"]),
        ("networking.v1.NetworkPolicyPeer", _) => gone(&["ipBlock"]),
        ("policy.v1.PodDisruptionBudgetSpec", "minAvailable" | "maxUnavailable") => {
            gone(&["minAvailable", "maxUnavailable"])
        }
        ("batch.v1.PodFailurePolicyRule", "onExitCodes" | "onPodConditions") => {
            gone(&["onExitCodes", "onPodConditions"])
        }
        ("apps.v1.DaemonSetUpdateStrategy" | "apps.v1.DeploymentStrategy", "rollingUpdate") => {
            is("type", json!("RollingUpdate"))
        }
        ("autoscaling.v2.MetricSpec", source) if source != "type" => {
            let sources = ["containerResource", "external", "object", "pods", "resource"];
            let kind = format!("{}{}", source[..1].to_uppercase(), &source[1..]);
            let mut all = gone(&sources);
            all.extend(is("type", json!(kind)));
            all
        }
        ("autoscaling.v2.MetricTarget", "averageValue") => {
            let mut all = gone(&["averageUtilization", "value"]);
            all.extend(is("type", json!("AverageValue")));
            all
        }
        ("autoscaling.v2.MetricTarget", "value") => {
            let mut all = gone(&["averageUtilization", "averageValue"]);
            all.extend(is("type", json!("Value")));
            all
        }
        ("rbac.v1.PolicyRule", "nonResourceURLs") => gone(&["apiGroups", "resources", "resourceNames"]),
        ("core.v1.PodSpec", "hostUsers") => Vec::new(),
        _ => Vec::new(),
    }
}

/// A valid text of a field.
pub(super) fn text(field: &str) -> &'static str {
    match field {
        "apiVersion" => "v1",
        "apiGroup" | "group" => "example.com",
        "kind" => "Sample",
        "uid" => "11111111-1111-4111-8111-111111111111",
        "mountPath" | "devicePath" => "/x",
        "topologyKey" => "kubernetes.io/hostname",
        "whenUnsatisfiable" => "DoNotSchedule",
        "fieldPath" => "metadata.name",
        "resource" => "limits.cpu",
        "ip" | "podIP" | "hostIP" | "addresses" | "nameservers" => "10.1.2.3",
        "host" | "hosts" | "externalName" => "a.example.com",
        "protocol" => "TCP",
        "cidr" => "10.0.0.0/8",
        "except" => "10.1.0.0/16",
        "verbs" => "get",
        "add" | "drop" => "CHOWN",
        "driver" => "x.example.com",
        "image" => "a:1",
        "status" => "True",
        "conditionType" | "reason" => "Ready",
        "accessModes" => "ReadWriteOnce",
        "targetWWNs" => "50060e801049cfd1",
        "finalizers" => "example.com/one",
        "nonResourceURLs" => "/healthz",
        "signerName" => "example.com/signer",
        "keyType" => "ED25519",
        "loadBalancerSourceRanges" => "10.0.0.0/8",
        "manager" => "m",
        _ => "a",
    }
}

/// Texts that are wrong for a field in a way of its own.
pub(super) fn wrong_texts(field: &str) -> &'static [&'static str] {
    match field {
        "ip" | "podIP" | "hostIP" | "nameservers" | "externalIPs" | "clusterIP" | "clusterIPs"
        | "loadBalancerIP" => {
            &["1.2.3", "010.1.2.3", "127.0.0.1", "0.0.0.0", "fd00::1", "169.254.1.1", "224.0.0.1", "1.2.3.4"]
        }
        "cidr" | "except" | "loadBalancerSourceRanges" => {
            &["10.0.0.1", "10.0.0.1/8", "11.0.0.0/8", "fd00::/8"]
        }
        "schedule" => &["* * * *", "TZ=UTC * * * * *", "@every x", "61 * * * *"],
        "timeZone" => &["Local", "Mars/One", "UTC"],
        "path" | "subPath" | "mountPath" | "subPathExpr" | "localhostProfile" => {
            &["a/../b", "/a", "..", "a:b", "/a//b", "/.", "/a%2f"]
        }
        "host" | "hosts" | "externalName" => {
            &["*.example.com", "10.0.0.1", "a.*.com", "*", "EXAMPLE.com", "a..b"]
        }
        "operator" => &["Exists", "DoesNotExist", "In", "Gt", "Equal", "NotIn"],
        "type" => &[
            "ExternalName",
            "NodePort",
            "LoadBalancer",
            "Recreate",
            "OnDelete",
            "RuntimeDefault",
            "Localhost",
        ],
        "name" => &["a.b", "a/b", "A", "..", "a-", "-a", "http", "1a", "12"],
        "generateName" => &["a.b-", "a/b-", "A-", "..", "a-"],
        "fieldPath" => {
            &["metadata.labels['a']", "metadata.uid", "spec.x", "metadata.annotations", "status.podIP"]
        }
        "resource" => &["requests.memory", "limits.hugepages-2Mi", "limits.x"],
        "restartPolicy" => &["Never", "OnFailure"],
        "effect" => &["NoExecute", "NoSchedule"],
        "pathType" => &["ImplementationSpecific"],
        "ipFamilies" => &["IPv6", "IPv5"],
        "ipFamilyPolicy" => &["PreferDualStack", "RequireDualStack"],
        "accessModes" => &["ReadWriteOncePod", "ReadOnlyMany"],
        "kind" => &["ServiceAccount", "User", "Group", "Role", "Node"],
        "apiVersion" => &["a/b/c", "v9", "/"],
        "succeededIndexes" | "completedIndexes" | "failedIndexes" => &["0-2", "2,1", "0-", "1-1"],
        "signal" | "stopSignal" => &["SIGTERM"],
        "dnsPolicy" => &["None", "Default"],
        "phase" => &["Bound", "Running", "Failed"],
        _ => &[],
    }
}

/// Another valid text than the one that is there, where that is not any text.
pub(super) fn other_text(field: &str, now: &str) -> Option<&'static str> {
    let pick = |options: &[&'static str]| options.iter().find(|option| **option != now).copied();
    match field {
        "protocol" => pick(&["UDP", "TCP"]),
        "type" => pick(&["NodePort", "ClusterIP"]),
        "restartPolicy" => pick(&["Never", "Always"]),
        "pathType" => pick(&["Exact", "Prefix"]),
        "kind" => pick(&["ConfigMap", "Role"]),
        "imagePullPolicy" => pick(&["Always", "Never"]),
        "podManagementPolicy" => pick(&["Parallel", "OrderedReady"]),
        "completionMode" => pick(&["Indexed", "NonIndexed"]),
        "concurrencyPolicy" => pick(&["Forbid", "Replace"]),
        "volumeMode" => pick(&["Block", "Filesystem"]),
        "accessModes" => pick(&["ReadWriteMany", "ReadWriteOnce"]),
        "clusterIP" | "clusterIPs" => pick(&["10.96.7.9", "10.96.7.8"]),
        "sessionAffinity" => pick(&["ClientIP", "None"]),
        "externalTrafficPolicy" | "internalTrafficPolicy" => pick(&["Local", "Cluster"]),
        "ipFamilies" => pick(&["IPv6", "IPv4"]),
        "ipFamilyPolicy" => pick(&["PreferDualStack", "SingleStack"]),
        "uid" => pick(&["33333333-3333-4333-8333-333333333333"]),
        "schedule" => pick(&["1 * * * *"]),
        "timeZone" => pick(&["Europe/Berlin"]),
        "cidr" => pick(&["10.0.0.0/9"]),
        "ip" => pick(&["10.9.9.9"]),
        "operator" => pick(&["Exists"]),
        "dnsPolicy" => pick(&["Default"]),
        "whenDeleted" | "whenScaled" => pick(&["Delete", "Retain"]),
        "status" => pick(&["False", "True"]),
        "selectPolicy" => pick(&["Min", "Max"]),
        "unhealthyPodEvictionPolicy" => pick(&["IfHealthyBudget", "AlwaysAllow"]),
        "podReplacementPolicy" => pick(&["Failed", "TerminatingOrFailed"]),
        "podIP" | "hostIP" => pick(&["10.9.9.9"]),
        _ => None,
    }
}

/// A valid value of a struct.
pub(super) fn of(name: &str) -> Option<Value> {
    let selector = || json!({"matchLabels": {"app": "x"}});
    Some(match name {
        "meta.v1.LabelSelector" => selector(),
        "meta.v1.LabelSelectorRequirement" => json!({"key": "a", "operator": "In", "values": ["x"]}),
        "meta.v1.ObjectMeta" => json!({"labels": {"app": "x"}}),
        "meta.v1.OwnerReference" => {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "11111111-1111-4111-8111-111111111111"})
        }
        "meta.v1.Condition" => {
            json!({"type": "Ready", "status": "True", "reason": "Why", "message": "m", "lastTransitionTime": "2024-01-01T00:00:00Z"})
        }
        "core.v1.LocalObjectReference" => json!({"name": "a"}),
        "core.v1.SecretReference" => json!({"name": "a", "namespace": "fields"}),
        "core.v1.TypedLocalObjectReference" | "core.v1.TypedObjectReference" => {
            json!({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"})
        }
        "core.v1.ConfigMapKeySelector" | "core.v1.SecretKeySelector" => json!({"name": "a", "key": "k"}),
        "core.v1.FileKeySelector" => json!({"volumeName": "v1", "path": "p", "key": "K"}),
        "core.v1.ConfigMapEnvSource" | "core.v1.SecretEnvSource" | "core.v1.ConfigMapVolumeSource" => {
            json!({"name": "a"})
        }
        "core.v1.ConfigMapProjection" | "core.v1.SecretProjection" => json!({"name": "a"}),
        "core.v1.EnvVarSource" => json!({"fieldRef": {"fieldPath": "metadata.name"}}),
        "core.v1.EnvVar" => json!({"name": "A", "value": "1"}),
        "core.v1.EnvFromSource" => json!({"configMapRef": {"name": "a"}}),
        "core.v1.SecretVolumeSource" => json!({"secretName": "a"}),
        "core.v1.ExecAction" => json!({"command": ["true"]}),
        "core.v1.HTTPGetAction" => json!({"path": "/x", "port": 80, "scheme": "HTTP"}),
        "core.v1.HTTPHeader" => json!({"name": "X-A", "value": "1"}),
        "core.v1.LifecycleHandler" => json!({"exec": {"command": ["true"]}}),
        "core.v1.Lifecycle" => json!({"postStart": {"exec": {"command": ["true"]}}}),
        "core.v1.Probe" => json!({"httpGet": {"path": "/x", "port": 80}, "periodSeconds": 3}),
        "core.v1.Affinity" => json!({}),
        "core.v1.NodeAffinity" => json!({}),
        "core.v1.PodAffinity" => json!({}),
        "core.v1.PodAffinityTerm" => json!({"labelSelector": selector(), "topologyKey": "zone"}),
        "core.v1.NodeSelectorTerm" => {
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]})
        }
        "core.v1.NodeSelectorRequirement" => json!({"key": "a", "operator": "In", "values": ["x"]}),
        "core.v1.TopologySpreadConstraint" => {
            json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector()})
        }
        "core.v1.Toleration" => json!({"key": "a", "operator": "Exists", "effect": "NoSchedule"}),
        "core.v1.Sysctl" => json!({"name": "kernel.shm_rmid_forced", "value": "0"}),
        "core.v1.SeccompProfile" | "core.v1.AppArmorProfile" => json!({"type": "RuntimeDefault"}),
        "core.v1.PodOS" => json!({"name": "linux"}),
        "core.v1.HostAlias" => json!({"ip": "10.1.2.3", "hostnames": ["a"]}),
        "core.v1.PodReadinessGate" => json!({"conditionType": "example.com/ready"}),
        "core.v1.PodResourceClaim" => json!({"name": "a", "resourceClaimName": "b"}),
        "core.v1.PodDNSConfig" => json!({"nameservers": ["10.1.2.3"]}),
        "core.v1.ContainerResizePolicy" => json!({"resourceName": "cpu", "restartPolicy": "NotRequired"}),
        "core.v1.ResourceRequirements" | "core.v1.VolumeResourceRequirements" => json!({}),
        "core.v1.ProjectedVolumeSource" => json!({"sources": [{"configMap": {"name": "a"}}]}),
        "core.v1.VolumeProjection" => json!({"configMap": {"name": "a"}}),
        "core.v1.DownwardAPIVolumeFile" => json!({"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}),
        "core.v1.DownwardAPIVolumeSource" | "core.v1.DownwardAPIProjection" => {
            json!({"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]})
        }
        "core.v1.FCVolumeSource" => json!({"targetWWNs": ["50060e801049cfd1"], "lun": 1}),
        "core.v1.ISCSIVolumeSource" => {
            json!({"targetPortal": "10.1.2.3:3260", "iqn": "iqn.2001-04.com.example:storage", "lun": 1})
        }
        "core.v1.NFSVolumeSource" => json!({"server": "a", "path": "/x"}),
        "core.v1.HostPathVolumeSource" => json!({"path": "/x"}),
        "core.v1.FlockerVolumeSource" => json!({"datasetName": "a"}),
        "core.v1.ImageVolumeSource" => json!({"reference": "a:1", "pullPolicy": "Always"}),
        "core.v1.QuobyteVolumeSource" => json!({"registry": "a:1", "volume": "v"}),
        "core.v1.AzureDiskVolumeSource" => {
            json!({"diskName": "a", "diskURI": "/subscriptions/a", "kind": "Managed"})
        }
        "core.v1.ClusterTrustBundleProjection" => json!({"name": "a", "path": "p"}),
        "core.v1.PersistentVolumeClaimSpec" => {
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})
        }
        "core.v1.ContainerState" => json!({"running": {"startedAt": "2024-01-01T00:00:00Z"}}),
        "core.v1.ContainerStatus" => {
            json!({"name": "main", "ready": true, "restartCount": 0, "image": "a:1", "imageID": "x", "state": {"running": {}}})
        }
        "core.v1.ObjectReference" => {
            json!({"kind": "Pod", "name": "a", "namespace": "fields", "apiVersion": "v1"})
        }
        "core.v1.LoadBalancerStatus" | "networking.v1.IngressLoadBalancerStatus" => {
            json!({"ingress": [{"ip": "10.1.2.3"}]})
        }
        "core.v1.LoadBalancerIngress" | "networking.v1.IngressLoadBalancerIngress" => {
            json!({"ip": "10.1.2.3"})
        }
        "core.v1.SessionAffinityConfig" => json!({"clientIP": {"timeoutSeconds": 5}}),
        "batch.v1.PodFailurePolicyRule" => {
            json!({"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}})
        }
        "batch.v1.PodFailurePolicyOnExitCodesRequirement" => json!({"operator": "In", "values": [1]}),
        "batch.v1.PodFailurePolicyOnPodConditionsPattern" => {
            json!({"type": "DisruptionTarget", "status": "True"})
        }
        "batch.v1.SuccessPolicyRule" => json!({"succeededCount": 1}),
        "networking.v1.IngressBackend" => json!({"service": {"name": "a", "port": {"number": 80}}}),
        "networking.v1.IngressServiceBackend" => json!({"name": "a", "port": {"number": 80}}),
        "networking.v1.HTTPIngressPath" => {
            json!({"path": "/x", "pathType": "Prefix", "backend": {"service": {"name": "a", "port": {"number": 80}}}})
        }
        "networking.v1.NetworkPolicyPeer" => json!({"podSelector": {}}),
        "networking.v1.NetworkPolicyPort" => json!({"port": 80, "protocol": "TCP"}),
        "autoscaling.v2.MetricTarget" => json!({"type": "AverageValue", "averageValue": "1"}),
        "autoscaling.v2.HPAScalingPolicy" => json!({"type": "Pods", "value": 1, "periodSeconds": 10}),
        "autoscaling.v2.HPAScalingRules" => {
            json!({"policies": [{"type": "Pods", "value": 1, "periodSeconds": 10}]})
        }
        "autoscaling.v2.CrossVersionObjectReference" => {
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"})
        }
        "rbac.v1.PolicyRule" => json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}),
        "rbac.v1.Subject" => json!({"kind": "ServiceAccount", "name": "a", "namespace": "fields"}),
        _ => return None,
    })
}
