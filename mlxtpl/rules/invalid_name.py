"""A name has characters, or a length, that Kubernetes does not allow.

## Why   the API server refuses it: metadata.name: Invalid value; for a PyTorchJob, whose name becomes that of Services,
         the operator's webhook does: a DNS-1035 label must consist of …. An object without a name is refused, too
## Bad   metadata: {name: My_Job}
## Good  metadata: {name: my-job}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mlxtpl import kinds
from mlxtpl.manifest import Finding, Part, Subject

ID = "invalid-name"
LEVEL = "error"


class _Grammar(NamedTuple):
    pattern: str
    most: int
    words: str


_ANY = 2**31
_DNS = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_ENDS = "start and end with a letter or digit"
_LABEL = _Grammar(_DNS, 63, f"be lower-case letters, digits and -, and {_ENDS}")
_SUBDOMAIN = _Grammar(rf"{_DNS}(\.{_DNS})*", 253, f"be lower-case letters, digits, - and ., and {_ENDS}")
_LETTER_FIRST = _Grammar(f"(?=[a-z]){_DNS}", 63, "be lower-case letters, digits and -, and start with a letter")
_PORT = _Grammar(
    "(?=[0-9-]*[a-z])[a-z0-9]+(-[a-z0-9]+)*", 15, "be lower-case letters, digits and single -, one a letter"
)
_VARIABLE = _Grammar(
    "[ -<>-~]+",
    _ANY,
    "be printable ASCII without =",  # since Kubernetes 1.30; a shell wants letters, digits and _
)
_OF_KIND = {
    # How long these may be, derived-name-too-long tells.
    "Job": _SUBDOMAIN._replace(most=_ANY),
    "PyTorchJob": _LETTER_FIRST._replace(most=_ANY),
    "CronJob": _SUBDOMAIN._replace(most=52),
    "Service": _LETTER_FIRST,
}


def check(subject: Subject) -> Iterator[Finding]:
    """Source: pkg/util/validation of kubernetes/apimachinery; pytorchjob_webhook.go of the operator at v1.9.4."""
    for part in subject.parts():
        metadata = part.at("metadata")
        if kinds.find_kind(part.obj) is not None and isinstance(metadata.value, (dict, type(None))):
            yield from _object(metadata)
    for template in subject.templates():
        for volume in template.items("spec", "volumes"):
            yield from _named(volume, _LABEL)
    for container in subject.containers():
        yield from _named(container, _LABEL)
        for field, grammar in (("ports", _PORT), ("env", _VARIABLE)):
            for each in container.items(field):
                yield from _named(each, grammar)


def _object(metadata: Part) -> Iterator[Finding]:
    name, prefix = metadata.map().get("name"), metadata.map().get("generateName")
    grammar = _OF_KIND.get(metadata.obj["kind"], _SUBDOMAIN)
    if name not in (None, ""):
        yield from list(_named(metadata, grammar)) or _indexed(metadata)
    elif prefix in (None, ""):
        yield metadata.finding("must be set", "name", hint="every object has a name")
    else:
        # Random letters and digits follow it.
        yield from _named(metadata, grammar._replace(pattern=f"(?:{grammar.pattern})-*"), "generateName")
    if metadata.text("namespace"):
        yield from _named(metadata, _LABEL, "namespace")


def _indexed(metadata: Part) -> Iterator[Finding]:
    """The pods of an Indexed Job have its name and their index for a host name."""
    name, spec = metadata.text("name"), metadata._replace(path=("spec",), value=metadata.obj.get("spec"))
    last = (spec.integer("completions") or 0) - 1
    if metadata.obj["kind"] != "Job" or spec.text("completionMode") != "Indexed" or last < 0 or _is_open(name):
        return
    host = f"{name}-{last}"
    if "." in host:
        yield metadata.finding(f"makes the host name {host} of a pod, which must have no dots", "name")
    elif len(host) > _LABEL.most >= len(name):
        message = f"makes the host name {host} of a pod of {len(host)} characters; {_LABEL.most} are allowed"
        yield metadata.finding(message, "name")


def _named(part: Part, grammar: _Grammar, field: str = "name") -> Iterator[Finding]:
    name = part.map().get(field)
    if not isinstance(name, str) or _is_open(name):
        return
    if not re.fullmatch(grammar.pattern, name):
        yield part.finding(f'must {grammar.words}, found "{name}"', field)
    elif len(name) > grammar.most:
        yield part.finding(f"must have at most {grammar.most} characters, found {len(name)}", field)


def _is_open(name: str) -> bool:
    """Whether it is still to be filled in; placeholder tells that."""
    return any(char in name for char in "{}<>")
