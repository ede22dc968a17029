"""The elasticPolicy of a PyTorchJob says standalone: true.

## Why   the operator then sets PET_STANDALONE to nothing, and torchrun dies of it: ValueError: invalid literal for
         int() with base 10: ''
## Bad   elasticPolicy: {standalone: true}
## Good  elasticPolicy: {rdzvBackend: c10d}, or a Job that starts torchrun --standalone
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl import infiniband
from mlxtpl.manifest import Edit, Finding, Subject
from mlxtpl.torchrun import flag_place, launches

ID = "standalone-rendezvous"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/controller.v1/pytorch/elastic.go at v1.9.4; torch/distributed/argparse_util.py."""
    for part in subject.parts("PyTorchJob"):
        policy = part.at("spec", "elasticPolicy")
        if policy.at("standalone").value is True:
            edits = (Edit("remove", (*policy.path, "standalone")),)
            yield policy.finding("must not be true, or torchrun dies of it", "standalone", edits=edits)
    for template, container in subject.training("PyTorchJob"):
        if infiniband.pods(template) > 1 and any("standalone" in each for each in launches(container)):
            message = "starts torchrun --standalone in each pod: the pods train apart from each other"
            yield flag_place(container, "standalone").finding(message, hint="leave --standalone out")
