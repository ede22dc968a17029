"""Hand-written Jobs and PyTorchJobs → values: known keys first, the rest in `patch`, and the proof that they render the same.

What has no key of its own is not guessed: the values that the keys make are rendered, and the patch that is still
missing is worked out from the two manifests. What comes out is rendered again and compared.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from mlxtpl import fields, kinds, live_export, pipeline, unmerge
from mlxtpl.errors import LayerError, Problem, Source, ValuesError
from mlxtpl.import_keys import keys_of
from mlxtpl.manifest import Object, object_id
from mlxtpl.values import Packages
from mlxtpl.yamldump import dump_tree

# A removal of these is kept even where presets may add: with them the job would be another one, or refused.
_KEPT = frozenset(("nProcPerNode", "nprocPerNode", "value", "valueFrom", "dnsPolicy", "image", "command", "args"))
_FILES = "files"  # the volume that holds files
# Items of lists that presets add.
_PRESETS = frozenset(("shared-memory", "/dev/shm", "GLOO_SOCKET_FAMILY", "NCCL_SOCKET_FAMILY"))  # noqa: S108


class Imported(NamedTuple):
    """One job as values.

    Attributes:
        values: the tree of the values file.
        manifest: the job that they render to.
        added: what that has and the manifest had not, as (field, value).
    """

    values: dict[str, Any]
    manifest: Object
    added: tuple[tuple[str, Any], ...]


def import_job(obj: Object, files: Mapping[str, Any] | None = None, *, exact: bool = False) -> Imported:
    """A Job or PyTorchJob as values.

    Args:
        obj: the object; what only a server writes is taken off.
        files: the values key of that name, when ConfigMaps beside the job became files.
        exact: the render has to be the same manifest; else it may have what the platform asks for, too.

    Raises:
        ValuesError: it cannot be written as values.
    """
    kind = kinds.find_kind(obj)
    if kind is None or kind.kind not in ("Job", "PyTorchJob"):
        hint = "a values file becomes a Job or a PyTorchJob"
        raise ValuesError(Problem("cannot be imported", object_id(obj), hint=hint))
    wanted = live_export.cleaned(obj)
    renamed: tuple[tuple[str, Any], ...] = ()
    if not exact:
        wanted, renamed = _renamed(wanted, kind)
    packages: Packages = {}
    keys = {**_keys(wanted, exact=exact), **({"files": dict(files)} if files else {})}
    values, rendered = _rendered(keys, packages, obj)
    patch = _patch(rendered, wanted, kind)
    if not exact:
        patch = _with_presets(patch, wanted, (_FILES, *files) if files else ())
    patch = {name: each for name, each in patch.items() if each}
    values, made = _rendered({**values, "patch": patch} if patch else values, packages, obj)
    added, lost = _differences(wanted, made, kind)
    if lost or (exact and added):
        told = ", ".join([*lost, *(field for field, _ in added)][:5])
        raise ValuesError(Problem(f"cannot be written as values that render the same: {told}", object_id(obj)))
    return Imported(values, made, (*renamed, *added))


def _renamed(wanted: Object, kind: kinds.Kind) -> tuple[Object, tuple[tuple[str, Any], ...]]:
    """The object with the names that a values file gives: one of its own, and that of the training container."""
    told: list[tuple[str, Any]] = []
    wanted = copy.deepcopy(wanted)
    metadata = wanted.get("metadata") or {}
    if "name" not in metadata and isinstance(metadata.get("generateName"), str):
        metadata["name"] = metadata.pop("generateName").rstrip("-.")
        told.append(("metadata.name", metadata["name"]))
    for path, template in kinds.pod_templates(wanted):
        containers = (template.get("spec") or {}).get("containers") or []
        if kind.kind == "Job" and len(containers) == 1 and containers[0].get("name") != kind.container:
            containers[0]["name"] = kind.container
            told.append((f"{fields.text(path)}.spec.containers[{kind.container}].name", kind.container))
    return wanted, tuple(told)


def _keys(wanted: Object, *, exact: bool) -> dict[str, Any]:
    """The keys that hold for all pod templates: a patch of the object comes before what values say of each pod."""
    values = keys_of(wanted, exact=exact)
    templates = kinds.pod_templates(wanted)
    for _, template in templates if len(templates) > 1 else ():
        alike = copy.deepcopy(wanted)
        for path, _ in templates:
            _get(alike, path[:-1])[path[-1]] = template
        other = keys_of(alike, exact=exact)
        for key in [each for each in values if each not in ("name", "image", "distributed")]:
            one, two = values[key], other.get(key)
            if isinstance(one, dict) and isinstance(two, dict):
                values[key] = {name: each for name, each in one.items() if two.get(name) == each}
            elif one != two:
                del values[key]
    return values


def _rendered(values: dict[str, Any], packages: Packages, obj: Object) -> tuple[dict[str, Any], Object]:
    """(the values, what they render to); a key that may not be so is left out, for the patch to say."""
    while True:
        source = Source(object_id(obj), dump_tree(values))
        try:
            manifest, _ = pipeline.render([source], packages=packages, linted=False)
        except ValuesError as error:
            refused = {each.where.partition(".")[0].partition("[")[0] for each in error.problems} & set(values)
            if not refused - {"name", "image", "patch", "distributed"}:
                raise ValuesError([each._replace(place=None, notes=()) for each in error.problems]) from None
            values = {key: value for key, value in values.items() if key not in refused}
        except LayerError as error:
            raise ValuesError(error.problems) from None
        else:
            return values, manifest[-1]


def _patch(rendered: Object, wanted: Object, kind: kinds.Kind) -> dict[str, Any]:
    """What `patch` has to hold: job, and where all pod templates need the same, pod and container."""
    paths = [path for path, _ in kinds.pod_templates(wanted)]
    found = [(_get(rendered, path) or {}, _get(wanted, path)) for path in paths]
    pods = [unmerge.patch_between(one, other, kinds.POD_TEMPLATE) for one, other in found]
    alike = [path for path, _ in kinds.pod_templates(rendered)] == paths
    if not alike or not pods or any(each != pods[0] for each in pods):
        return {"job": unmerge.patch_between(rendered, wanted, kind.lists)}
    rest = copy.deepcopy(rendered)
    for path, (_, template) in zip(paths, found, strict=True):
        _get(rest, path[:-1])[path[-1]] = template
    pod, container = _split(pods[0], kind.container)
    return {"job": unmerge.patch_between(rest, wanted, kind.lists), "pod": pod, "container": container}


def _split(pod: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The patch of a pod without that of its training container, and that."""
    spec = pod.get("spec") or {}
    containers = spec.get("containers") or []
    if len(containers) != 1 or containers[0].get("name") != name or "$patch" in containers[0]:
        return pod, {}
    spec = {key: value for key, value in spec.items() if key != "containers"}
    rest = {key: value for key, value in pod.items() if key != "spec"}
    return {**rest, **({"spec": spec} if spec else {})}, {k: v for k, v in containers[0].items() if k != "name"}


def _get(tree: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def _with_presets(patch: dict[str, Any], wanted: Object, files: Collection[str]) -> dict[str, Any]:
    """The patch without the removals that would undo a preset of the platform."""
    kept = {name: _kept(each, files) for name, each in patch.items()}
    spec, job = wanted.get("spec") or {}, kept.get("job") or {}
    elastic = "elasticPolicy" in spec or "Master" in (spec.get("pytorchReplicaSpecs") or {})
    if spec.get("nprocPerNode") is not None and not elastic:
        # The operator refuses both places of the number of processes.
        kept["job"] = {**job, "spec": {**(job.get("spec") or {}), "elasticPolicy": {"nProcPerNode": None}}}
    return kept


def _kept(tree: Any, files: Collection[str]) -> Any:
    if isinstance(tree, list):
        return [_kept(each, files) for each in tree if not _is_preset(each, files)]
    if not isinstance(tree, dict):
        return tree
    kept = {key: _kept(value, files) for key, value in tree.items() if value is not None or key in _KEPT}
    return {key: value for key, value in kept.items() if value not in ({}, []) or tree[key] in ({}, [])}


def _is_preset(item: Any, files: Collection[str]) -> bool:
    if not isinstance(item, dict) or item.get("$patch") != "delete":
        return False
    return item.get("name", item.get("mountPath")) in (*_PRESETS, *files)


def _differences(wanted: Object, made: Object, kind: kinds.Kind) -> tuple[list[tuple[str, Any]], list[str]]:
    """(what the render has beyond what was wanted, what it lacks or has otherwise)."""
    if unmerge.same(wanted, made, kind.lists):
        return [], []
    old = {field: value for field, _, value in fields.walk(wanted, kind.lists)}
    new = {field: value for field, _, value in fields.walk(made, kind.lists)}
    added = [
        (fields.text(field), value)
        for field, value in new.items()
        if field not in old and unmerge.filled({str(field[-1]): value})
    ]
    lost = [fields.text(field) for field in _lost(old, new)]
    if not added and not lost:
        lost = ["the order of a list"]
    return added, lost


def _lost(old: dict[fields.Field, Any], new: dict[fields.Field, Any]) -> Iterator[fields.Field]:
    for field, value in old.items():
        parent = str(field[-2]) if len(field) > 1 else ""
        filled = value in ({}, []) and any(each[: len(field)] == field for each in new)
        if field not in new:
            if not filled and unmerge.filled({str(field[-1]): value}):
                yield field
        elif not unmerge.same({field[-1]: value}, {field[-1]: new[field]}, field=parent):
            yield field
