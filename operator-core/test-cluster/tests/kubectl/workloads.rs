//! Deployments and what kubectl does with them.

use super::script::{Step, feed, run, until};

const JOB: &str = "
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: '0 3 * * *'
  suspend: true
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'job:1'}]}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: leader}
spec: {holderIdentity: me}
";

pub(crate) fn steps() -> Vec<Step> {
    vec![
        run("create deployment web --image=web:1 --replicas=2 --port=80"),
        run("rollout status deployment/web --timeout=60s"),
        until("get deployment web", "2/2"),
        run("get deployment web -o wide"),
        run("wait deployment/web --for=condition=Available --timeout=60s"),
        run("get replicasets -l app=web"),
        run("get pods -l app=web"),
        run("scale deployment web --replicas=3"),
        until("get deployment web", "3/3"),
        run("scale deployment web --current-replicas=9 --replicas=1"),
        run("set image deployment/web web=web:2"),
        run("rollout status deployment/web --timeout=60s"),
        // Events of the same second come in any order.
        run("describe deployment web").in_any_order(),
        run("rollout history deployment/web"),
        run("rollout undo deployment/web"),
        run("rollout status deployment/web --timeout=60s"),
        run("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"),
        run("rollout restart deployment/web"),
        run("rollout pause deployment/web"),
        run("rollout resume deployment/web"),
        run("rollout status deployment/web --timeout=60s"),
        run("autoscale deployment web --min=1 --max=5 --cpu=80%"),
        run("get hpa web"),
        run("expose deployment web --port=80 --target-port=8080"),
        run("get service web -o wide"),
        run("get service web -o yaml"),
        run("describe service web --show-events=false"),
        feed("apply -f -", JOB),
        run("get cronjob,ingress,networkpolicy,pvc,lease -o wide"),
        run("create job copy --from=cronjob/nightly --dry-run=server"),
        run("create job once --image=job:1"),
        until("get job once", "Complete"),
        run("get job once -o wide"),
        run("delete cronjob nightly"),
        run("get all -l app=web").in_any_order(),
        run("delete deployment web"),
        run("delete pvc data --wait=false"),
        run("delete service,hpa,pdb,ingress,netpol,lease --all"),
    ]
}
