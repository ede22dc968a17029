"""An environment variable has both a value and a valueFrom, or its valueFrom has not exactly one source.

## Why   the API server refuses the pod: env[0].valueFrom: Invalid value: may not be specified when `value` is not empty;
         must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`; may not have more than
         one field specified at a time
## Bad   {name: TOKEN, value: x, valueFrom: {secretKeyRef: {name: hub, key: token}}}
## Good  {name: TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject

ID = "value-with-value-from"
LEVEL = "error"
_SOURCES = ("secretKeyRef", "configMapKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef")


def check(subject: Subject) -> Iterator[Finding]:
    """Source: validateEnvVarValueFrom in pkg/apis/core/validation/validation.go, Kubernetes v1.32."""
    for container in subject.containers():
        for entry in container.items("env"):
            value_from = entry.value.get("valueFrom")
            if not isinstance(value_from, dict):
                continue
            found = [key for key, value in value_from.items() if value is not None]
            # A misspelt source is the schema's to tell.
            if not found:
                yield entry.finding(f"must have one of {', '.join(_SOURCES[:4])}", "valueFrom")
            elif entry.value.get("value") not in (None, ""):
                hint = "keep one of the two; a patch has to set the other to null"
                yield entry.finding("must not be set beside a value", "valueFrom", hint=hint)
            elif len(found) > 1 and all(key in _SOURCES for key in found):
                yield entry.finding(f"must have one source, found {', '.join(found)}", "valueFrom")
