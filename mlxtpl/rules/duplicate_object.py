"""Two objects have the same kind, namespace and name.

## Why   kubectl applies both and the later one wins in silence
## Bad   two ConfigMaps named mnist-files
## Good  a name for each
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.errors import Problem
from mlxtpl.manifest import Manifest, object_id

ID = "duplicate-object"
LEVEL = "error"


def check(manifest: Manifest) -> Iterator[Problem]:
    """Compare the ids of all objects."""
    seen = set()
    for obj in manifest:
        key = (str(obj.get("apiVersion")).split("/")[0], object_id(obj))
        if key in seen:
            yield Problem("the manifest has this object twice", object_id(obj), hint="give one of them another name")
        seen.add(key)
