"""Names follow their objects: a pod that named a ConfigMap before it got a prefix, hash or namespace names it after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlxtpl import fieldspecs, kinds
from mlxtpl.resources import CLUSTER_SCOPED, Resource


def follow(resources: Sequence[Resource]) -> None:
    """Rewrite every reference to an object whose name changed."""
    for kind, paths in fieldspecs.POD_REFERENCES.items():
        targets = [each for each in resources if each.id.kind == kind]
        if not any(each.before for each in targets):
            continue
        for each in resources:
            for _, template in kinds.pod_templates(each.obj):
                spec = template.get("spec")
                for path in paths:
                    fieldspecs.visit(spec, path, _renamed(each, targets))
    for kind, specs in fieldspecs.OBJECT_REFERENCES.items():
        targets = [each for each in resources if each.id.kind == kind and each.before]
        for each in resources:
            for spec in fieldspecs.fitting(specs, each.id):
                fieldspecs.visit(each.obj, spec.path, _renamed(each, targets))


def _renamed(referrer: Resource, targets: Sequence[Resource]) -> Callable[[Any], Any]:
    def new_name(old: Any) -> Any:
        found = [each for each in targets if any(one.name == old for one in each.ids())]
        found = [each for each in found if _same_namespace(referrer, each)]
        if len(found) > 1:
            # Two bases may each have one of this name: the one that was wrapped as the referrer was.
            found = [each for each in found if _same_affixes(referrer, each)] or found
        names = {each.id.name for each in found}
        return names.pop() if len(names) == 1 else old

    return new_name


def _same_namespace(referrer: Resource, target: Resource) -> bool:
    return target.id.kind in CLUSTER_SCOPED or referrer.id.scope() == target.id.scope()


def _same_affixes(referrer: Resource, target: Resource) -> bool:
    return referrer.prefixes == target.prefixes and referrer.suffixes == target.suffixes
