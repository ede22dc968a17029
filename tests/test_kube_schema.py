"""The schema of Kubernetes: beside the package that it is made from, beside the operator's SDK, and message by message."""

from __future__ import annotations

import copy
import functools
import importlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlxtpl import kube_schema, yamlio
from mlxtpl.errors import Source
from mlxtpl.linter import field_text
from mlxtpl.manifest import Edit
from mlxtpl.resources import plain

ROOT = Path(__file__).parent.parent
VALIDATE = "what the tables are made from is not installed: pip install kubernetes-validate"
SDK = "the operator's SDK is not installed: pip install kubeflow-training==1.9.4"


def objects(text: str) -> list[Any]:
    """The objects of a manifest, typed as Go types them."""
    return [plain(node) for node in yamlio.load(Source("manifest", text))]


# --- beside kubernetes-validate ----------------------------------------------------------------

GOOD = """
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: b, labels: {a: b}, annotations: {a.b/c: d}, finalizers: [a/b], ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u}]}
spec:
  parallelism: 2
  completions: 2
  activeDeadlineSeconds: 100
  suspend: false
  podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: main, operator: In, values: [1, 2]}, onPodConditions: []}]}
  template:
    metadata: {labels: {a: b}}
    spec:
      restartPolicy: Never
      hostNetwork: true
      securityContext: {runAsUser: 1, supplementalGroups: [1], sysctls: [{name: a, value: b}]}
      nodeSelector: {a: b}
      tolerations: [{key: a, operator: Exists, tolerationSeconds: 3}]
      imagePullSecrets: [{name: x}]
      dnsConfig: {nameservers: [1.1.1.1], options: [{name: ndots, value: "2"}]}
      affinity:
        nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}
        podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, labelSelector: {matchLabels: {a: b}}}}]}
      volumes:
        - {name: a, emptyDir: {medium: Memory, sizeLimit: 8Gi}}
        - {name: b, persistentVolumeClaim: {claimName: x, readOnly: true}}
        - {name: c, projected: {defaultMode: 420, sources: [{secret: {name: a, items: [{key: a, path: b, mode: 256}]}}, {downwardAPI: {items: [{path: a, fieldRef: {fieldPath: b}}]}}]}}
      initContainers: [{name: i, image: i}]
      containers:
        - name: main
          image: i
          command: [a]
          args: [b]
          env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: a, key: b, optional: true}}}, {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}]
          envFrom: [{prefix: a, configMapRef: {name: a}}]
          ports: [{containerPort: 80, name: http, protocol: TCP}]
          resources: {limits: {cpu: 4, memory: 8Gi, nvidia.com/gpu: 1}, requests: {cpu: "4"}}
          securityContext: {privileged: true, capabilities: {add: [IPC_LOCK]}}
          livenessProbe: {httpGet: {port: http, httpHeaders: [{name: a, value: b}]}, periodSeconds: 3}
          readinessProbe: {exec: {command: [a]}}
          lifecycle: {preStop: {exec: {command: [a]}}}
          volumeMounts: [{name: a, mountPath: /a, readOnly: true}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  schedule: "* * * * *"
  startingDeadlineSeconds: 5
  jobTemplate: {spec: {backoffLimit: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, tty: true}]}}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, creationTimestamp: 2024-01-01T00:00:00Z}
spec:
  containers: [{name: main, volumeMounts: [{name: a, mountPath: /a}]}]
  priority: 1
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}]
  volumes: [{name: a, csi: {driver: a, volumeAttributes: {a: b}}}, {name: b, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: ClusterIP, selector: {a: b}, ports: [{port: 80, targetPort: 80, nodePort: 30000}, {name: a, port: 81, targetPort: http}], sessionAffinityConfig: {clientIP: {timeoutSeconds: 3}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: i}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
immutable: true
data: {a: b}
binaryData: {a: YQ==}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a}
spec: {accessModes: [ReadWriteMany], volumeMode: Filesystem, dataSource: {kind: a, name: b}, resources: {requests: {storage: 1Gi}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: a}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {maxReplicas: 3, scaleTargetRef: {kind: a, name: b}, metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1}}}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a}
spec:
  group: a
  scope: Namespaced
  names: {kind: A, plural: as}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, maximum: 1.5, properties: {a: {type: string, default: {b: [c]}}}}}}]
"""
VALUES = ["text", "8", "true", 8, 0, 2.0, 2.5, True, False, [], ["a"], [1], [{}], {}, {"a": "b"}, {"name": "a"}]


@pytest.fixture(scope="module")
def validates() -> Any:
    """What kubernetes-validate says of an object, empty when it takes it; it reads each of its files only once."""
    package = pytest.importorskip("kubernetes_validate", reason=VALIDATE)
    utils = importlib.import_module("kubernetes_validate.utils")
    patch = pytest.MonkeyPatch()
    patch.setattr(utils, "schema_contents", functools.lru_cache(utils.schema_contents))

    def refusal(obj: Any, version: str) -> str:
        try:
            package.validate(obj, version, strict=True)
        except package.ValidationError as error:
            return error.message
        return ""

    yield refusal
    patch.undo()


def mutated(obj: Any, rng: random.Random) -> Any:
    """A copy of an object with one thing changed somewhere: a field is gone, is new, or has another value."""
    obj = copy.deepcopy(obj)
    parent, key = rng.choice([(parent, key) for parent, key in _places(obj) if key not in ("apiVersion", "kind")])
    how = rng.choice(("delete", "add", "value", "value"))
    if how == "value":
        parent[key] = copy.deepcopy(rng.choice(VALUES))
    elif isinstance(parent, list):
        parent.append(copy.deepcopy(rng.choice(VALUES))) if how == "add" else parent.pop(key)
    elif how == "add":
        parent[rng.choice((key.upper(), f"{key}s", "name", "spec"))] = copy.deepcopy(rng.choice(VALUES))
    else:
        del parent[key]
    return obj


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


# What the schemas require and the API server does not: see docs/kube_tables.py.
NOT_REQUIRED = [f"'{each}' is a required property" for each in ("onPodConditions", "served", "storage", "value")]


@pytest.mark.parametrize("version", ["1.25", "1.32", "1.37"])
def test_verdicts_are_those_of_kubernetes_validate(version: str, validates: Any) -> None:
    """One change somewhere in a good object: what they refuse we refuse, and nothing else."""
    rng = random.Random(version)
    good = objects(GOOD)
    assert not kube_schema.faults(good, version)
    assert {validates(obj, version) for obj in good} == {""}
    refused = 0
    for number in range(500):
        obj = mutated(good[0] if number % 2 else rng.choice(good), rng)
        refusal = validates(obj, version)
        refused += refusal != ""
        assert bool(kube_schema.faults([obj], version)) is (refusal not in ("", *NOT_REQUIRED)), (refusal, obj)
    assert 150 < refused < 450


# What we refuse and they take, and the other way round: (manifest, whether we find a fault).
DIFFERENCES = {
    "the range of an integer": ("{apiVersion: batch/v1, kind: Job, spec: {backoffLimit: 3000000000, template: {}}}", True),
    "a null among maps": ("{apiVersion: v1, kind: Pod, spec: {containers: [null]}}", True),
    "a quantity that is null": ("{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: a, max: {cpu: null}}]}}", False),
    "required no more in a later version": ("{apiVersion: apps/v1, kind: StatefulSet, spec: {selector: {}, template: {}}}", False),
    "nothing is a value too": ("{apiVersion: v1, kind: LimitRange, spec: {}}", False),
    "status": ("{apiVersion: batch/v1, kind: Job, status: 3}", False),
    "managedFields": ("{apiVersion: batch/v1, kind: Job, metadata: {managedFields: [{a: 1}]}}", False),
    "apiVersion of an embedded object": ("{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: a, selector: {}, template: {}, volumeClaimTemplates: [{apiVersion: v2}]}}", False),
}  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENCES)
def test_known_differences(case: str, validates: Any) -> None:
    """Where kubernetes-validate knows less than the API server, or more."""
    text, ours = DIFFERENCES[case]
    assert bool(kube_schema.faults(objects(text))) is ours
    assert bool(validates(objects(text)[0], "1.32")) is not ours


def test_tables_are_in_sync() -> None:
    """The file is what docs/kube_tables.py makes of the installed package, and has the versions that we name."""
    pytest.importorskip("kubernetes_validate", reason=VALIDATE)
    done = subprocess.run([sys.executable, ROOT / "docs/kube_tables.py", "--check"], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    utils = importlib.import_module("kubernetes_validate.utils")
    assert {utils.major_minor(each) for each in utils.all_versions()} == set(kube_schema.VERSIONS)


# --- beside the operator's SDK -----------------------------------------------------------------

SDK_TYPES = {
    "str": "string",
    "int": "int32",
    "bool": "boolean",
    "Quantity": "quantity",
    "V1ObjectMeta": "meta.v1.ObjectMeta",
    "V1PodTemplateSpec": "core.v1.PodTemplateSpec",
    "K8sIoApiAutoscalingV2MetricSpec": "autoscaling.v2.MetricSpec",
    "KubeflowOrgV1JobStatus": "any",  # nobody writes it
}


def test_pytorchjob_is_the_sdks() -> None:
    """Field for field, type for type, and what is required."""
    pytest.importorskip("kubeflow.training", reason=SDK)
    models = importlib.import_module("kubeflow.training.models")
    ours = plain(yamlio.load_one(yamlio.read_source(Path(kube_schema.__file__).parent / "schemas/pytorchjob.yaml")))
    for name, definition in ours["definitions"].items():
        model = getattr(models, f"KubeflowOrgV1{name}")
        theirs = {model.attribute_map[key]: _type(each) for key, each in model.openapi_types.items()}
        if name == "RunPolicy":
            theirs["activeDeadlineSeconds"] = "int64"  # the SDK does not tell integers apart, Go does
        assert definition["fields"] == theirs, name
        required = {model.attribute_map[key] for key in model.openapi_types if _is_required(model, key)}
        # The CRD of the operator does not require runPolicy.
        assert set(definition.get("required", ())) == required - {"runPolicy"}, name


def _type(theirs: str) -> str:
    if match := re.fullmatch(r"list\[(.*)\]", theirs):
        return f"list of {_type(match[1])}"
    if match := re.fullmatch(r"dict\(str, (.*)\)", theirs):
        return f"map of {_type(match[1])}"
    return SDK_TYPES.get(theirs) or theirs.removeprefix("KubeflowOrgV1")


def _is_required(model: Any, key: str) -> bool:
    try:
        made = object.__new__(model)
        made.local_vars_configuration = importlib.import_module("kubeflow.training.configuration").Configuration()
        setattr(made, key, None)
    except ValueError:
        return True
    return False


# --- messages ----------------------------------------------------------------------------------

JOB = (
    "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: [{name: main, %s}]}}}}"
)
PYTORCHJOB = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: a}, spec: {%s}}"
POD = ("spec", "template", "spec")
MAIN = (*POD, "containers", 0)
# (manifest, [(rule, field and message, hint, edits)])
MESSAGES: dict[str, tuple[str, list[tuple[str, str, str, tuple[Edit, ...]]]]] = {
    "number in args": (
        JOB % "args: [--lr, 1e-4]",
        [("wrong-type", "Job/a: spec.template.spec.containers[main].args[1]: must be text, found the number 0.0001", "quote it", (Edit("quote", (*MAIN, "args", 1)),))],
    ),
    "text for an integer": (
        JOB % 'ports: [{containerPort: "8"}, {containerPort: "010"}, {containerPort: "9999999999"}]',
        [
            ("wrong-type", 'Job/a: spec.template.spec.containers[main].ports[8/TCP].containerPort: must be an integer, found "8"', "write it without quotes", (Edit("set", (*MAIN, "ports", 0, "containerPort"), 8),)),
            ("wrong-type", 'Job/a: spec.template.spec.containers[main].ports[010/TCP].containerPort: must be an integer, found "010"', "", ()),
            ("wrong-type", 'Job/a: spec.template.spec.containers[main].ports[9999999999/TCP].containerPort: must be an integer, found "9999999999"', "write it without quotes", ()),
        ],
    ),
    "text for a boolean": (
        JOB % 'tty: "true", stdin: "yes"',
        [
            ("wrong-type", 'Job/a: spec.template.spec.containers[main].tty: must be true or false, found "true"', "write it without quotes", (Edit("set", (*MAIN, "tty"), True),)),
            ("wrong-type", 'Job/a: spec.template.spec.containers[main].stdin: must be true or false, found "yes"', "", ()),
        ],
    ),
    "belongs to the pod": (
        JOB % "imagePullSecrets: [{name: x}]",
        [("unknown-field", "Job/a: spec.template.spec.containers[main].imagePullSecrets: is no field of Container", "it belongs to spec.template.spec", ())],
    ),
    "belongs below": (
        JOB % "limits: {cpu: 1}, capabilities: {}, claimName: x",
        [
            ("unknown-field", "Job/a: spec.template.spec.containers[main].limits: is no field of Container", "it belongs to spec.template.spec.containers[main].resources", ()),
            ("unknown-field", "Job/a: spec.template.spec.containers[main].capabilities: is no field of Container", "it belongs to spec.template.spec.containers[main].securityContext", ()),
            ("unknown-field", "Job/a: spec.template.spec.containers[main].claimName: is no field of Container", "", ()),
        ],
    ),
    "belongs to the containers": (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {image: i, securityContext: {capabilities: {}}, containers: [{name: main}]}}",
        [
            ("unknown-field", "Pod/a: spec.image: is no field of PodSpec", "it belongs to spec.containers[main]", ()),
            ("unknown-field", "Pod/a: spec.securityContext.capabilities: is no field of PodSecurityContext", "it belongs to spec.containers[main].securityContext", ()),
        ],
    ),
    "belongs to one of several": (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {image: i, containers: [{name: a}, {name: b}]}}",
        [("unknown-field", "Pod/a: spec.image: is no field of PodSpec", "it belongs to an item of spec.containers", ())],
    ),
    "belongs beside": (
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {containers: [], spec: {}, template: {containers: [], labels: {}, spec: {annotations: {}, containers: []}}}}",
        [
            ("unknown-field", "Job/a: spec.containers: is no field of JobSpec", "it belongs to spec.template.spec", ()),
            ("unknown-field", "Job/a: spec.spec: is no field of JobSpec", "it belongs to the top level", ()),
            ("unknown-field", "Job/a: spec.template.containers: is no field of PodTemplateSpec", "it belongs to spec.template.spec", ()),
            ("unknown-field", "Job/a: spec.template.labels: is no field of PodTemplateSpec", "it belongs to spec.template.metadata", ()),
            ("unknown-field", "Job/a: spec.template.spec.annotations: is no field of PodSpec", "it belongs to spec.template.metadata", ()),
        ],
    ),
    "belongs to the policies of a PyTorchJob": (
        PYTORCHJOB % "cleanPodPolicy: None, pytorchReplicaSpecs: {Worker: {minReplicas: 1, nodeSelector: {}}}",
        [
            ("unknown-field", "PyTorchJob/a: spec.cleanPodPolicy: is no field of PyTorchJobSpec", "it belongs to spec.runPolicy", ()),
            ("unknown-field", "PyTorchJob/a: spec.pytorchReplicaSpecs.Worker.minReplicas: is no field of ReplicaSpec", "it belongs to spec.elasticPolicy", ()),
            ("unknown-field", "PyTorchJob/a: spec.pytorchReplicaSpecs.Worker.nodeSelector: is no field of ReplicaSpec", "it belongs to spec.pytorchReplicaSpecs.Worker.template.spec", ()),
        ],
    ),
    "misspelt": (
        JOB % "imagePulPolicy: Always, port: [], shmSize: 8Gi",
        [
            ("unknown-field", "Job/a: spec.template.spec.containers[main].imagePulPolicy: is no field of Container", "did you mean imagePullPolicy?", ()),
            ("unknown-field", "Job/a: spec.template.spec.containers[main].port: is no field of Container", "did you mean ports?", ()),
            ("unknown-field", "Job/a: spec.template.spec.containers[main].shmSize: is no field of Container", "", ()),
        ],
    ),
    "other letters": (
        JOB % "image_pull_policy: Always, WorkingDir: /a, workingDir: /b, TTY: 1",
        [
            ("unknown-field", "Job/a: spec.template.spec.containers[main].image_pull_policy: is no field of Container", "did you mean imagePullPolicy?", (Edit("rename", (*MAIN, "image_pull_policy"), "imagePullPolicy"),)),
            ("unknown-field", "Job/a: spec.template.spec.containers[main].WorkingDir: is no field of Container", "did you mean workingDir?", ()),
            ("unknown-field", "Job/a: spec.template.spec.containers[main].TTY: is no field of Container", "did you mean tty?", ()),
        ],
    ),
    "of another version": (
        JOB % "restartPolicyRules: []",
        [("unknown-field", "Job/a: spec.template.spec.containers[main].restartPolicyRules: is no field of Container in Kubernetes 1.32", "Kubernetes 1.34 has it", ())],
    ),
    "apiVersion of old": (
        "{apiVersion: batch/v1beta1, kind: CronJob, metadata: {name: a}}",
        [("removed-api-version", "CronJob/a: apiVersion: is no apiVersion of CronJob in Kubernetes 1.32, found batch/v1beta1", "batch/v1", (Edit("set", ("apiVersion",), "batch/v1"),))],
    ),
    "several right ones": (
        "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a}}",
        [("removed-api-version", "DeviceClass/a: apiVersion: is no apiVersion of DeviceClass in Kubernetes 1.32, found resource.k8s.io/v1", "resource.k8s.io/v1alpha3 or resource.k8s.io/v1beta1", ())],
    ),
    "a kind that is gone": (
        "{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClass, metadata: {name: a}}",
        [("removed-api-version", "ResourceClass/a: apiVersion: is no apiVersion of ResourceClass in Kubernetes 1.32, found resource.k8s.io/v1alpha2", "Kubernetes 1.27 has it", ())],
    ),
    "misspelt kind": (
        "{apiVersion: kubeflow.org/v1, kind: PytorchJob, metadata: {name: a}}",
        [("removed-api-version", "PytorchJob/a: kind: is no kind, found PytorchJob", "did you mean PyTorchJob?", (Edit("set", ("kind",), "PyTorchJob"),))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case: str) -> None:
    """Message, hint and edits, word for word; the key is at fault where a field is unknown."""
    text, wanted = MESSAGES[case]
    manifest = objects(text)
    found = kube_schema.faults(manifest)
    told = [
        (each.rule, f"{field_text(manifest, each.finding)}: {each.finding.message}", each.finding.hint, each.finding.edits)
        for each in found
    ]  # fmt: skip
    assert told == wanted
    assert all(each.finding.key is (each.rule == "unknown-field") for each in found)


def test_secrets_are_marked() -> None:
    """What a Secret holds must not be shown."""
    (fault,) = kube_schema.faults(objects("{apiVersion: v1, kind: Secret, stringData: {a: 12345678}}"))
    assert fault.finding.secret
    (fault,) = kube_schema.faults(objects("{apiVersion: v1, kind: Secret, type: 1}"))
    assert not fault.finding.secret


def test_known() -> None:
    """Kinds of the tables, in the versions that have them."""
    cron = {"apiVersion": "autoscaling/v2beta2", "kind": "HorizontalPodAutoscaler"}
    assert [kube_schema.known(cron, each) for each in ("1.25", "1.26")] == [True, False]
    assert kube_schema.known({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"})
    assert not kube_schema.known({"apiVersion": "kubeflow.org/v1", "kind": "TFJob"})
    assert not kube_schema.known({"apiVersion": ["batch/v1"], "kind": None})


def test_nothing_raises() -> None:
    """Whatever stands anywhere, there are faults or none."""
    rng = random.Random(1)
    odd = [
        None,
        10**400,
        -(10**400),
        float("inf"),
        float("nan"),
        "x" * 1000,
        "\ud800",
        [None],
        [[]],
        {"": None},
        "9" * 30,
    ]
    good = [*objects(GOOD), *objects(PYTORCHJOB % "pytorchReplicaSpecs: {Worker: {template: {spec: {}}}}")]
    for _ in range(1000):
        obj = copy.deepcopy(rng.choice(good))
        for _ in range(3):
            parent, key = rng.choice(list(_places(obj)) or [(obj, "a")])
            parent[key if rng.random() < 0.8 or isinstance(parent, list) else f"{key}x"] = copy.deepcopy(
                rng.choice(odd)
            )
        kube_schema.faults([obj], rng.choice(kube_schema.VERSIONS))
