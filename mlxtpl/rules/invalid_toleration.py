"""A toleration contradicts itself.

## Why   the API server refuses it: value must be empty when `operator` is 'Exists'; effect must be 'NoExecute' when
         `tolerationSeconds` is set; operator must be Exists when `key` is empty
## Bad   tolerations: [{key: nvidia.com/gpu, operator: Exists, value: "true"}]
## Good  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
"""

from __future__ import annotations

from collections.abc import Iterator

from mlxtpl.manifest import Edit, Finding, Subject

ID = "invalid-toleration"
LEVEL = "error"


def check(subject: Subject) -> Iterator[Finding]:
    """Source: ValidateTolerations in pkg/apis/core/validation of Kubernetes."""
    for template in subject.templates():
        for each in template.items("spec", "tolerations"):
            if each.text("operator") == "Exists" and each.value.get("value") not in (None, ""):
                edits = (Edit("remove", (*each.path, "value")),)
                yield each.finding("must not be set for the operator Exists", "value", edits=edits)
            if not each.value.get("key") and each.text("operator") in ("", "Equal"):
                yield each.finding("must be set unless the operator is Exists", "key")
            if each.value.get("tolerationSeconds") is not None and each.text("effect") != "NoExecute":
                yield each.finding("must be NoExecute where tolerationSeconds is set", "effect")
