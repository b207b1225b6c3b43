//! The largest of the children: a Deployment as people write them, of 3.6 KB on the server, without a Pod.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            ConfigMapVolumeSource, Container, ContainerPort, EmptyDirVolumeSource, EnvVar, EnvVarSource,
            HTTPGetAction, ObjectFieldSelector, PodSpec, PodTemplateSpec, Probe, ResourceRequirements,
            SecretKeySelector, SecurityContext, Volume, VolumeMount,
        },
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};
use kube::ResourceExt;

use crate::workload::{TestResource, metadata};

pub(crate) fn deployment(primary: &TestResource) -> Deployment {
    let name = primary.name_any();
    let instance = BTreeMap::from([("instance".to_owned(), name.clone())]);
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(
                [("app".to_owned(), "load".to_owned()), ("instance".to_owned(), name.clone())].into(),
            ),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![container(&name, &primary.spec.value)],
            volumes: Some(vec![
                Volume {
                    name: "config".to_owned(),
                    config_map: Some(ConfigMapVolumeSource { name, ..ConfigMapVolumeSource::default() }),
                    ..Volume::default()
                },
                Volume {
                    name: "cache".to_owned(),
                    empty_dir: Some(EmptyDirVolumeSource::default()),
                    ..Volume::default()
                },
            ]),
            ..PodSpec::default()
        }),
    };
    Deployment {
        metadata: metadata(primary),
        spec: Some(DeploymentSpec {
            replicas: Some(0),
            selector: LabelSelector { match_labels: Some(instance), ..LabelSelector::default() },
            template,
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    }
}

fn container(name: &str, value: &str) -> Container {
    Container {
        name: "web".to_owned(),
        image: Some("registry.example.com/load/web:1.27.3".to_owned()),
        args: Some(vec!["--listen=:8080".to_owned(), "--config=/etc/load/value".to_owned()]),
        ports: Some(vec![ContainerPort {
            name: Some("http".to_owned()),
            container_port: 8080,
            ..ContainerPort::default()
        }]),
        env: Some(environment(name, value)),
        resources: Some(ResourceRequirements {
            requests: Some(amounts("50m", "64Mi")),
            limits: Some(amounts("500m", "256Mi")),
            ..ResourceRequirements::default()
        }),
        readiness_probe: Some(probe("/ready", 5)),
        liveness_probe: Some(probe("/healthy", 20)),
        volume_mounts: Some(vec![
            VolumeMount {
                name: "config".to_owned(),
                mount_path: "/etc/load".to_owned(),
                read_only: Some(true),
                ..VolumeMount::default()
            },
            VolumeMount {
                name: "cache".to_owned(),
                mount_path: "/var/cache/load".to_owned(),
                ..VolumeMount::default()
            },
        ]),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            run_as_non_root: Some(true),
            ..SecurityContext::default()
        }),
        ..Container::default()
    }
}

/// The variables: one that says something, one of the Secret, and one of the Pod.
fn environment(name: &str, value: &str) -> Vec<EnvVar> {
    let secret =
        SecretKeySelector { name: name.to_owned(), key: "value".to_owned(), ..SecretKeySelector::default() };
    // Said as the server would fill it in, for those who compare the variables.
    let api_version = Some("v1".to_owned());
    let pod = ObjectFieldSelector { field_path: "metadata.name".to_owned(), api_version };
    let from = |source| EnvVar { value_from: Some(source), ..EnvVar::default() };
    vec![
        EnvVar { name: "VALUE".to_owned(), value: Some(value.to_owned()), ..EnvVar::default() },
        EnvVar {
            name: "PASSWORD".to_owned(),
            ..from(EnvVarSource { secret_key_ref: Some(secret), ..EnvVarSource::default() })
        },
        EnvVar {
            name: "POD".to_owned(),
            ..from(EnvVarSource { field_ref: Some(pod), ..EnvVarSource::default() })
        },
    ]
}

fn amounts(cpu: &str, memory: &str) -> BTreeMap<String, Quantity> {
    [("cpu", cpu), ("memory", memory)].map(|(of, amount)| (of.to_owned(), Quantity(amount.to_owned()))).into()
}

fn probe(path: &str, period: i32) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::String("http".to_owned()),
            ..HTTPGetAction::default()
        }),
        period_seconds: Some(period),
        ..Probe::default()
    }
}
