//! A custom kind: its definition, its columns, its explanation.

use super::script::{Step, feed, run, until, watch};

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pages.kubectl.example.com}
spec:
  group: kubectl.example.com
  scope: Namespaced
  names: {kind: Page, plural: pages, singular: page, shortNames: [pg], categories: [sites]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Title, type: string, jsonPath: .spec.title}
    - {name: Words, type: integer, jsonPath: .spec.words, description: How many words it has.}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type==\"Ready\")].status'}
    - {name: Draft, type: boolean, jsonPath: .spec.draft, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A page of the site.
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [title]
            properties:
              title: {type: string, description: What is above the page., maxLength: 20}
              words: {type: integer, format: int32, default: 3}
              draft: {type: boolean}
              port: {x-kubernetes-int-or-string: true}
              tags:
                type: array
                description: In any order.
                items: {type: object, required: [name], properties: {name: {type: string, enum: [a, b]}}}
          status:
            type: object
            properties:
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
";
const PAGE: &str = "
apiVersion: kubectl.example.com/v1
kind: Page
metadata: {name: home}
spec: {title: Home, draft: true}
";
const PAGE_CHANGED: &str = "
apiVersion: kubectl.example.com/v1
kind: Page
metadata: {name: home}
spec: {title: Welcome, tags: [{name: a}]}
";
const PAGE_WRONG: &str = "
apiVersion: kubectl.example.com/v1
kind: Page
metadata: {name: wrong}
spec: {title: Something that is too long, tags: [{}], words: many}
";
const PAGE_UNKNOWN: &str = "
apiVersion: kubectl.example.com/v1
kind: Page
metadata: {name: odd}
spec: {title: Odd, colour: '', tags: [{name: a, size: 1}]}
";

pub(crate) fn steps() -> Vec<Step> {
    let mut steps = vec![
        feed("apply -f -", DEFINITION),
        run("wait crd/pages.kubectl.example.com --for=condition=Established --timeout=30s"),
        Step {
            silent: true,
            ..until("explain page --api-version=kubectl.example.com/v1", "A page of the site")
        },
        run("get crd pages.kubectl.example.com"),
        run("api-resources --api-group=kubectl.example.com -o wide"),
        feed("apply -f -", PAGE),
        run("get pages"),
        run("get pg -o wide"),
        run("get page home -o yaml"),
        run("get sites"),
        run("get pages.v1.kubectl.example.com home -o name"),
        run("describe page home"),
        feed("diff -f -", PAGE_CHANGED),
        feed("apply -f -", PAGE_CHANGED),
        run("get page home -o yaml --show-managed-fields"),
        // The real one looks at fields in any order.
        feed("create -f -", PAGE_WRONG).in_any_order(),
        feed("create -f -", PAGE_UNKNOWN),
        feed("create -f - --validate=warn", PAGE_UNKNOWN),
        run("patch page home -p '{\"spec\":{\"words\":5}}'"),
        run("patch page home --type=merge -p '{\"spec\":{\"words\":5}}'"),
        run(
            "patch page home --type=merge --subresource=status -p '{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}'",
        ),
        run("wait page/home --for=condition=Ready --timeout=30s"),
        run("wait page/home --for=jsonpath={.spec.words}=5 --timeout=30s"),
        run("get pages --sort-by=.spec.title"),
        run("get page home -o jsonpath='{.spec.title} {.status.conditions[0].type}'"),
    ];
    steps.extend([
        watch(
            "get pages home -w",
            &[
                "patch page home --type=merge -p '{\"spec\":{\"words\":6}}'",
                "patch page home --type=merge -p '{\"spec\":{\"words\":7}}'",
            ],
            "7",
        ),
        run("explain page --api-version=kubectl.example.com/v1"),
        run("explain page.spec"),
        run("explain page.spec.tags.name"),
        run("explain page --recursive"),
        run("label page home a=b"),
        run("scale page home --replicas=2"),
        run("delete page home odd"),
        run("get pages"),
        run("delete crd pages.kubectl.example.com"),
    ]);
    steps
}
