"""A label, an annotation or a node selector has a key or a value that Kubernetes does not allow.

## Why   the API server refuses it: metadata.labels: Invalid value: a valid label must be an empty string or consist of
         alphanumeric characters, '-', '_' or '.'. All annotations of an object together may have 256 KiB
## Bad   labels: {owner: "Kim, ML team"}
## Good  annotations: {owner: "Kim, ML team"}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import Finding, Part, Subject

ID = "invalid-label"
LEVEL = "error"
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DNS = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_PREFIX = re.compile(rf"{_DNS}(\.{_DNS})*")
_PLACEHOLDER = re.compile(r'[{<][^{}<>":]*[}>]')
_LONGEST, _LONGEST_PREFIX, _ANNOTATIONS = 63, 253, 256 * 1024


def check(subject: Subject) -> Iterator[Finding]:
    """Source: IsQualifiedName, IsValidLabelValue and ValidateAnnotations of kubernetes/apimachinery."""
    for part in _labelled(subject):
        for key, value in part.map("metadata", "labels").items():
            yield from _key(part.at("metadata", "labels"), key, key)
            yield from _value(part.at("metadata", "labels", key), value)
        annotations = part.at("metadata", "annotations")
        for key in annotations.map():
            # Upper-case letters are let through here.
            yield from _key(annotations, key, key.lower())
        size = sum(len(k.encode()) + len(v.encode()) for k, v in annotations.map().items() if isinstance(v, str))
        if size > _ANNOTATIONS:
            yield annotations.finding(f"must have at most {_ANNOTATIONS} bytes together, found {size}")
    for template in subject.templates():
        selector = template.at("spec", "nodeSelector")
        for key, value in selector.map().items():
            yield from _key(selector, key, key)
            yield from _value(selector.at(key), value)


def _labelled(subject: Subject) -> Iterator[Part]:
    yield from subject.parts()
    yield from (part.at("spec", "jobTemplate") for part in subject.parts("CronJob"))
    yield from (template for template in subject.templates() if template.path)


def _key(parent: Part, key: str, tested: str) -> Iterator[Finding]:
    *prefixes, name = tested.split("/")
    good = len(prefixes) < 2 and _NAME.fullmatch(name) and all(_PREFIX.fullmatch(each) for each in prefixes)
    if not good and not _PLACEHOLDER.search(key):
        message = "must be a key of letters, digits, -, _ and . that may have a DNS name and a / in front"
        yield parent.finding(message, key, key=True)
    elif len(name) > _LONGEST or len("".join(prefixes)) > _LONGEST_PREFIX:
        message = f"must have at most {_LONGEST} characters, and {_LONGEST_PREFIX} in front of the /"
        yield parent.finding(message, key, key=True)


def _value(part: Part, value: object) -> Iterator[Finding]:
    if not isinstance(value, str) or not value or _PLACEHOLDER.search(value):
        return
    if not _NAME.fullmatch(value):
        message = f'must be letters, digits, -, _ and ., and start and end with a letter or digit, found "{value}"'
        hint = "an annotation may be any text" if "labels" in part.path else ""
        yield part.finding(message, hint=hint)
    elif len(value) > _LONGEST:
        yield part.finding(f"must have at most {_LONGEST} characters, found {len(value)}")
