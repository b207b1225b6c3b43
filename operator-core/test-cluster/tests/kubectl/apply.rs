//! Apply in all its forms, and diff.

use super::script::{Step, feed, run};

const SITE: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: site
  labels: {app: site}
spec:
  replicas: 0
  selector: {matchLabels: {app: site}}
  template:
    metadata: {labels: {app: site}}
    spec:
      containers:
      - name: main
        image: site:1
        env: [{name: A, value: '1'}, {name: B, value: '2'}]
        ports: [{containerPort: 80}]
      - {name: side, image: side:1}
";
const SITE_CHANGED: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: site
  labels: {tier: front}
spec:
  replicas: 0
  selector: {matchLabels: {app: site}}
  template:
    metadata: {labels: {app: site}}
    spec:
      containers:
      - name: main
        image: site:2
        env: [{name: B, value: '3'}, {name: C, value: '4'}]
        ports: [{containerPort: 80}, {containerPort: 443}]
";
const MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: applied, labels: {set: one}}
data: {a: '1', b: '2'}
";
const MAP_CHANGED: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: applied, labels: {set: one}}
data: {a: '2', c: '3'}
";
const OTHER_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: other, labels: {set: one}}
data: {a: '1'}
";
const WRONG: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: applied}
dta: {a: '1'}
";
const WRONG_TYPE: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: site}
spec: {replicas: many}
";

pub(crate) fn steps() -> Vec<Step> {
    vec![
        feed("diff -f -", MAP),
        feed("apply -f -", MAP),
        feed("apply -f -", MAP),
        feed("diff -f -", MAP),
        feed("diff -f -", MAP_CHANGED),
        feed("apply -f - --dry-run=server", MAP_CHANGED),
        feed("apply -f -", MAP_CHANGED),
        run("get configmap applied -o yaml"),
        run("apply view-last-applied configmap applied"),
        feed("apply -f -", WRONG),
        feed("apply -f - --server-side", MAP),
        feed("apply -f - --server-side --field-manager=me", MAP_CHANGED),
        feed("apply -f - --server-side --field-manager=me --force-conflicts", MAP_CHANGED),
        run("get configmap applied -o yaml --show-managed-fields"),
        feed("diff -f - --server-side --field-manager=me", MAP),
        feed("apply -f - --server-side --dry-run=server", OTHER_MAP),
        feed("apply -f - --server-side", WRONG),
        feed("apply -f - --prune -l set=one", OTHER_MAP),
        run("get configmaps -l set=one"),
        feed("apply -f -", SITE),
        run("get deployment site -o yaml"),
        feed("diff -f -", SITE_CHANGED),
        feed("apply -f -", SITE_CHANGED),
        // Without managed fields: their order goes with the second in which the controllers write.
        run("get deployment site -o yaml"),
        feed("apply -f -", WRONG_TYPE),
        feed("apply -f - --server-side", WRONG_TYPE),
        run("set image deployment/site main=site:3"),
        run("set env deployment/site C- D=5"),
        run("set resources deployment/site --limits=cpu=1"),
        feed("apply -f -", SITE_CHANGED),
        run("get deployment site -o jsonpath={.spec.template.spec.containers}"),
        run(
            "patch deployment site -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"new\",\"image\":\"new:1\"}]}}}}'",
        ),
        run(
            "patch deployment site -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"main\",\"$patch\":\"delete\"}]}}}}'",
        ),
        run(
            "patch deployment site -p '{\"spec\":{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}}'",
        ),
        run(
            "patch deployment site -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"image\":\"new:1\"}]}}}}'",
        ),
        run("patch deployment site -p '{\"spec\":{\"replicas\":\"x\"}}'"),
        run("get deployment site -o yaml"),
        feed("delete -f -", SITE),
        feed("replace -f -", OTHER_MAP),
        feed("delete -f -", OTHER_MAP),
    ]
}
