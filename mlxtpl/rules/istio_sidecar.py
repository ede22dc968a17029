"""The pods of a training job get an Istio sidecar.

## Why   the sidecar takes over the ports of the pods: they fail with "RuntimeError: Connection reset by peer", and the
         pod of a Job does not end when the training does. What turns it off is read from the pod template alone: a
         label of the name, else the annotation; on the job's own metadata it has no effect, and it has to be text
## Bad   metadata: {annotations: {sidecar.istio.io/inject: "false"}} beside spec of the job
## Good  template: {metadata: {annotations: {sidecar.istio.io/inject: "false"}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Edit, Finding, Subject

ID = "istio-sidecar"
LEVEL = "error"
_ON = ("true", "yes", "y", "on")
_KEY = "sidecar.istio.io/inject"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide, "주의" of the PyTorchJob; pkg/kube/inject/inject.go of Istio."""
    for template in subject.templates(*TRAINING):
        metadata = template.at("metadata")
        place = "labels" if _KEY in metadata.map("labels") else "annotations"
        value = metadata.map(place).get(_KEY)
        # A boolean false is meant well, and told as a wrong type; a pod in the node's network gets no sidecar.
        off = isinstance(value, str) and value.strip() and value.lower() not in _ON
        if value is False or off or template.map("spec").get("hostNetwork") is True:
            continue
        path = (*metadata.path, place, _KEY)
        edits = (Edit("set", path, "false"),) if value is None else ()
        hint = f'write {_KEY}: "false" into the annotations of the template'
        own = template._replace(path=(), value=template.obj).at("metadata")
        if value is None and (_KEY in own.map("annotations") or _KEY in own.map("labels")):
            message = "must be on the pod template: on the job's own metadata it has no effect"
        elif value is None:
            message = 'must be "false", or every pod gets a sidecar, found nothing'
        else:
            message = f'must be "false", or every pod gets a sidecar, found "{value}"'
        yield metadata.finding(message, place, _KEY, hint=hint, edits=edits)
