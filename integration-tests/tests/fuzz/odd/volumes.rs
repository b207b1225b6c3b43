//! PersistentVolumes of each source, right and wrong, and what may change of one.

use integration_tests::prelude::*;

use super::{Ask, Story};

const VOLUMES: &str = "/api/v1/persistentvolumes";

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let name = format!("pv{seed}");
    let (field, source) = source(random);
    let body = |name: &str, field: &str, source: &Value| {
        let mut spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]});
        spec[field] = source.clone();
        if field == "local" {
            spec["nodeAffinity"] = affinity("kubernetes.io/hostname");
        }
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
    };
    let mut asks = vec![Ask::new("POST", format!("{VOLUMES}?fieldManager=t"), &body(&name, field, &source))];
    let one = format!("{VOLUMES}/{name}?fieldManager=m");
    for _ in 0..6 {
        let patch = match random.below(8) {
            0 | 1 => json!({"spec": {field: mutated(random, &source)}}),
            2 => {
                let (other, source) = self::source(random);
                json!({"spec": {field: null, other: source}})
            }
            3 => {
                json!({"spec": {"capacity": {"storage": random.pick(&["2Gi", "1024Mi", "0", "-1", "+1Gi"])}}})
            }
            4 => json!({"spec": {"volumeMode": random.pick(&["Block", "Filesystem", "X"])}}),
            5 => {
                json!({"spec": {"nodeAffinity": random.pick(&[Value::Null, affinity("topology.kubernetes.io/zone"), affinity("failure-domain.beta.kubernetes.io/zone"), json!({})])}})
            }
            6 => {
                json!({"spec": {"persistentVolumeReclaimPolicy": random.pick(&["Delete", "Retain", "Recycle", "X"]), "accessModes": random.pick(&[json!(["ReadWriteMany"]), json!(["X"]), json!([]), json!(["ReadWriteOncePod", "ReadOnlyMany"])])}})
            }
            _ => {
                json!({"spec": {"storageClassName": random.pick(&["a", "A_", ""])}, "metadata": {"annotations": {"volume.beta.kubernetes.io/mount-options": "x"}}})
            }
        };
        asks.push(Ask::new("MERGE", one.clone(), &patch));
    }
    for _ in 0..3 {
        let (field, source) = self::source(random);
        let mut wrong = body("new", field, &mutated(random, &source));
        if random.chance(20) {
            let (second, source) = self::source(random);
            wrong["spec"][second] = source;
        }
        if random.chance(20) {
            wrong["spec"]["capacity"] =
                random.pick(&[json!({"cpu": "1"}), json!({"storage": "1", "memory": "1"}), Value::Null]);
        }
        asks.push(Ask::new("POST", format!("{VOLUMES}?dryRun=All"), &wrong));
    }
    Story { asks, ..Story::default() }
}

fn affinity(key: &str) -> Value {
    json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": ["x"]}]}]}})
}

/// One field of a source is another, wrong, or gone.
fn mutated(random: &mut Random, source: &Value) -> Value {
    let mut source = source.clone();
    let names: Vec<String> = source.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let name = random.pick(&names);
    let place = &mut source[name.as_str()];
    *place = match (&*place, random.below(4)) {
        (Value::String(_), 0) => json!(""),
        (Value::String(_), 1) => json!("a/../b"),
        (Value::String(text), _) => json!(format!("{text}x")),
        (Value::Number(_), roll) => json!([300, -1, 5, 0][roll]),
        (Value::Bool(is), _) => json!(!is),
        (Value::Object(_), 0) => json!({"name": "", "namespace": ""}),
        (Value::Object(_), _) => json!({"name": "other", "namespace": "Not_Valid"}),
        (_, 0) => json!(["other"]),
        _ => Value::Null,
    };
    source
}

fn source(random: &mut Random) -> (&'static str, Value) {
    let secret = || json!({"name": "s", "namespace": "n"});
    let sources = [
        ("hostPath", json!({"path": "/a"})),
        ("hostPath", json!({"path": "/", "type": "Directory"})),
        ("local", json!({"path": "/mnt", "fsType": "ext4"})),
        ("nfs", json!({"server": "s", "path": "/p", "readOnly": true})),
        (
            "csi",
            json!({"driver": "d.example.com", "volumeHandle": "h", "volumeAttributes": {"a": "b"}, "nodeStageSecretRef": secret()}),
        ),
        (
            "csi",
            json!({"driver": "d.example.com", "volumeHandle": "h", "controllerExpandSecretRef": secret(), "fsType": "xfs"}),
        ),
        (
            "iscsi",
            json!({"targetPortal": "a:1", "iqn": "iqn.2001-04.com.example:s", "lun": 0, "initiatorName": "iqn.2001-04.com.example:t"}),
        ),
        ("rbd", json!({"monitors": ["m"], "image": "i", "secretRef": secret()})),
        ("cephfs", json!({"monitors": ["m"], "secretRef": secret()})),
        ("fc", json!({"targetWWNs": ["50060e801049cfd1"], "lun": 1})),
        ("glusterfs", json!({"endpoints": "e", "path": "p", "endpointsNamespace": "n"})),
        ("azureFile", json!({"secretName": "s", "shareName": "h", "secretNamespace": "n"})),
        ("azureDisk", json!({"diskName": "d", "diskURI": "https://x"})),
        ("cinder", json!({"volumeID": "v", "secretRef": secret()})),
        ("flexVolume", json!({"driver": "d", "options": {"a": "b"}, "secretRef": secret()})),
        ("scaleIO", json!({"gateway": "g", "system": "s", "secretRef": secret(), "volumeName": "v"})),
        (
            "storageos",
            json!({"volumeName": "v", "volumeNamespace": "n", "secretRef": {"name": "s", "namespace": "n"}}),
        ),
        ("gcePersistentDisk", json!({"pdName": "p", "partition": 1})),
        ("awsElasticBlockStore", json!({"volumeID": "v", "partition": 1})),
        ("vsphereVolume", json!({"volumePath": "p"})),
        ("portworxVolume", json!({"volumeID": "v"})),
        ("photonPersistentDisk", json!({"pdID": "p"})),
        ("quobyte", json!({"registry": "r:1", "volume": "v"})),
        ("flocker", json!({"datasetName": "d"})),
    ];
    random.pick(&sources)
}
