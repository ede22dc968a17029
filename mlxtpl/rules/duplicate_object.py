"""Two objects have the same kind, namespace and name.

## Why   kubectl applies both and the later one wins in silence
## Bad   two ConfigMaps named mnist-files
## Good  a name for each
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Finding, Subject, object_id

ID = "duplicate-object"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Compare the ids of all objects."""
    seen = set()
    for part in subject.parts():
        key = (str(part.obj.get("apiVersion")).split("/")[0], object_id(part.obj))
        if key in seen:
            message = "the manifest has an object of this kind and name twice"
            yield part.finding(message, "metadata", "name", hint="give one of them another name")
        seen.add(key)
