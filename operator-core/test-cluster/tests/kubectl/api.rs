//! What the server has, what its kinds mean, and who may do what.

use super::script::{Step, run};

pub(crate) fn steps() -> Vec<Step> {
    vec![
        run("api-resources --api-group=batch -o wide"),
        run("api-resources --api-group=policy"),
        run("api-resources --api-group=rbac.authorization.k8s.io --verbs=list --namespaced=false"),
        run("explain configmap"),
        run("explain deployment.spec.strategy"),
        run("explain pod.spec.containers.ports"),
        run("explain pod.spec.volumes --recursive"),
        run("explain service.spec.ports.targetPort"),
        run("explain cronjob.spec --api-version=batch/v1"),
        run("explain configmap.none"),
        run("explain nothing"),
        run("auth can-i create pods"),
        run("auth can-i list secrets --as=nobody"),
        run("auth can-i '*' '*'"),
        run("create role reader --verb=get,list --resource=configmaps"),
        run("create rolebinding reader --role=reader --user=somebody"),
        run("auth can-i list configmaps --as=somebody"),
        run("get configmaps --as=nobody"),
        run("describe role reader"),
        run("get rolebinding reader -o wide"),
        run("get role reader"),
        run("get namespace api"),
        run("get nothing"),
        run("get --raw /readyz"),
    ]
}
