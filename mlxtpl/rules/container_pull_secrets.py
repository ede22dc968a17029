"""The secrets of the registry are written on a container.

## Why   imagePullSecrets is a field of the pod: on a container it is unknown, kubectl refuses it and others drop it, and the
         image cannot be pulled (ImagePullBackOff). The platform's guide shows it there for PyTorchJobs
## Bad   containers: [{name: pytorch, imagePullSecrets: [{name: my-harbor-secret}]}]
## Good  imagePullSecrets: [{name: my-harbor-secret}] beside containers
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "container-pull-secrets"
LEVEL = "error"
_FIELD = "imagePullSecrets"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: PodSpec and Container in core/v1/types.go of Kubernetes."""
    for template in subject.templates():
        for field in ("initContainers", "containers"):
            for container in template.items("spec", field):
                if _FIELD in container.value:
                    message = "belongs beside containers, in the spec of the pod"
                    yield container.finding(message, _FIELD, key=True, edits=_edits(template, container))


def _edits(template: Part, container: Part) -> tuple[Edit, ...]:
    written, beside = container.value[_FIELD] or [], template.at("spec", _FIELD).value or []
    secrets = [each.value for each in container.items(_FIELD)]
    # A name without its map, or a map without a list, would be lost.
    if not isinstance(written, list) or not isinstance(beside, list) or len(secrets) != len(written):
        return ()
    there = [each.text("name") for each in template.items("spec", _FIELD)]
    added = [
        Edit("append", (*template.path, "spec", _FIELD), each) for each in secrets if each.get("name") not in there
    ]
    return (Edit("remove", (*container.path, _FIELD)), *added)
