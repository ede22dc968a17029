"""The number of processes per node is written at the wrong place, or as something that is no number of processes.

## Why   spec.nprocPerNode is text (auto, cpu, gpu or a number) and spec.elasticPolicy.nProcPerNode an integer. The
         other spelling is an unknown field in either place: kubectl refuses it (strict decoding error: unknown field
         "spec.nProcPerNode"), other clients drop it silently. Of any other text torchrun says: Unsupported
         nproc_per_node value
## Bad   spec: {nProcPerNode: 8}
## Good  spec: {nprocPerNode: "8"}, or spec: {elasticPolicy: {nProcPerNode: 8}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mlxtpl.manifest import Edit, Finding, Part, Subject

ID = "misplaced-nproc"
LEVEL = "error"
_WORDS = ("auto", "cpu", "gpu")
_COUNT = re.compile(r"\s*\+?0*[1-9][0-9]*\s*", re.ASCII)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/apis/kubeflow.org/v1/pytorch_types.go at v1.9.4; torch/distributed/run.py."""
    for part in subject.parts("PyTorchJob"):
        spec, policy = part.at("spec"), part.at("spec", "elasticPolicy")
        # Where the field that is meant is filled too, which of the two counts is not known.
        alone = spec.map().get("nprocPerNode") is None and policy.map().get("nProcPerNode") is None
        if "nProcPerNode" in spec.map():
            edits = _move(spec, "nProcPerNode", spec) if alone else ()
            message, hint = "must be called nprocPerNode here, and be text", 'nprocPerNode: "8"'
            yield spec.finding(message, "nProcPerNode", key=True, hint=hint, edits=edits)
        if "nprocPerNode" in policy.map():
            count = policy.integer("nprocPerNode")
            edits, message = _move(policy, "nprocPerNode", spec), "must stand beside elasticPolicy, not in it"
            if count is not None:
                edits = (Edit("rename", (*policy.path, "nprocPerNode"), "nProcPerNode"),)
                message = "must be called nProcPerNode here"
            yield policy.finding(message, "nprocPerNode", key=True, edits=edits if alone else ())
        yield from _values(spec, policy)


def _values(spec: Part, policy: Part) -> Iterator[Finding]:
    value, count = spec.at("nprocPerNode").value, policy.integer("nProcPerNode")
    if isinstance(value, str) and not _fits(value):
        right = value.strip().lower()
        edits = (Edit("set", (*spec.path, "nprocPerNode"), right),) if right in _WORDS else ()
        message = f'must be auto, cpu, gpu or a number of at least 1, found "{value}"'
        yield spec.finding(message, "nprocPerNode", edits=edits)
    if count is not None and count < 1:
        yield policy.finding(f"must be at least 1, found {count}", "nProcPerNode")


def _move(parent: Part, name: str, spec: Part) -> tuple[Edit, ...]:
    """Take the value out of its parent and write it as text to spec.nprocPerNode."""
    value = parent.map()[name]
    if isinstance(value, bool) or not _fits(value):
        return ()
    return Edit("remove", (*parent.path, name)), Edit("set", (*spec.path, "nprocPerNode"), str(value).strip())


def _fits(value: Any) -> bool:
    text = str(value) if isinstance(value, (int, str)) else ""
    return text in _WORDS or _COUNT.fullmatch(text) is not None
