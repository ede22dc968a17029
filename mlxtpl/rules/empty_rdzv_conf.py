"""The rdzvConf of a PyTorchJob is an empty list.

## Why   the operator cuts the last comma off the joined settings, fails where there is none, and makes no pods
## Bad   elasticPolicy: {rdzvConf: []}
## Good  elasticPolicy: {rdzvConf: [{key: join_timeout, value: "900"}]}, or no rdzvConf
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "empty-rdzv-conf"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/elastic.go at v1.9.4."""
    for part in subject.parts("PyTorchJob"):
        policy = part.at("spec", "elasticPolicy")
        if policy.at("rdzvConf").value == []:
            edits = (Edit("remove", (*policy.path, "rdzvConf")),)
            yield policy.finding("must have an item, or not be there", "rdzvConf", edits=edits)
