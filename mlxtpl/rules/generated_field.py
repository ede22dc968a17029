"""An object has fields that only Kubernetes sets: it is a live object that was saved to a file.

## Why   what `kubectl get -o yaml` prints cannot be applied as it is: a resourceVersion that is out of date is refused
         (the object has been modified), and so are the selector and the controller-uid of another Job (`selector` not
         auto-generated)
## Bad   metadata: {name: mnist, uid: 0b5e…, resourceVersion: "81"}, spec: {selector: …}
## Good  metadata: {name: mnist}, spec: …
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import fields
from mlxtpl.manifest import Finding, Part, Subject

ID = "generated-field"
LEVEL = "warning"
_METADATA = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/registry/batch/job/strategy.go and pkg/apis/batch/validation, Kubernetes v1.32."""
    for part in subject.parts():
        paths: list[tuple[str, ...]] = [("metadata", name) for name in _METADATA]
        if part.obj.get("kind") == "Job":
            paths += [("spec", "selector"), ("spec", "manualSelector")]
            paths += [("spec", "template", "metadata", "labels", name) for name in _LABELS]
        found = [path for path in (*paths, ("status",)) if _is_set(part, path)]
        if found:
            listed = ", ".join(fields.text(path) for path in found)
            yield part.finding(f"looks like a live export (kubectl get -o yaml): remove {listed}", *found[0], key=True)


def _is_set(part: Part, path: tuple[str, ...]) -> bool:
    """`kubectl create --dry-run -o yaml` writes creationTimestamp: null and status: {}, which do no harm."""
    return part.at(*path).value not in (None, {}, False)
