"""Kustomization directories → Manifest, and their transformations on a manifest that the layers rendered."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mlxtpl import generators, references, replacements, transformers, yamlio
from mlxtpl.errors import OverlayError, Place, Problem, Source
from mlxtpl.fieldspecs import COMMON_ANNOTATIONS, COMMON_LABELS, METADATA_LABELS
from mlxtpl.kustomization import NAMES, Kustomization, is_kustomization, load_kustomization
from mlxtpl.manifest import Manifest
from mlxtpl.patches import patches, strategic_merges
from mlxtpl.resources import Resource, Trace, find, load_manifest, local_path, read_beside

# A values file among the resources → its manifest.
RenderValues = Callable[[Source], Manifest]

# Source: kustomize v5.8, api/internal/builtins/SortOrderTransformer.go.
_FIRST = ("Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
          "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
          "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
          "CronJob", "PodDisruptionBudget")  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_MANAGED_BY = "app.kubernetes.io/managed-by"


def build(root: Path, render: RenderValues, trace: Trace | None = None) -> list[Resource]:
    """The objects of a kustomization directory, as `kubectl kustomize` prints them.

    Args:
        root: the directory.
        render: renders a values file that is one of the resources.
        trace: told of each event, for origins.

    Raises:
        OverlayError: anything in the directory is wrong.
        MlxtplError: a values file does not render.
    """
    kustomization = load_kustomization(root)
    if not any(value for key, value in kustomization.fields.items() if key not in ("apiVersion", "kind", "metadata")):
        raise OverlayError(Problem("says nothing", kustomization.shown, hint="list resources"))
    resources = _accumulate(kustomization, [], (), render, trace)
    return _finished(resources, kustomization, trace)


def apply_overlays(
    manifest: Sequence[dict[str, Any] | Resource],
    directories: Sequence[tuple[Path, Place | None]],
    render: RenderValues,
    trace: Trace | None = None,
) -> list[Resource]:
    """A manifest with kustomization directories applied, in order, as kustomize applies components.

    Args:
        manifest: the objects; they are not changed, and their order stays.
        directories: each with the place that named it.
        render, trace: as of `build`.

    Raises:
        OverlayError: as `build`.
    """
    resources = [each if isinstance(each, Resource) else Resource(copy.deepcopy(each)) for each in manifest]
    last = None
    for directory, place in directories:
        if not directory.is_dir() or not is_kustomization(directory):
            hint = "an overlay is a directory with a kustomization.yaml"
            raise OverlayError(Problem("is no kustomization directory", str(directory), place, hint=hint))
        kustomization = load_kustomization(directory)
        resources = _accumulate(kustomization, resources, (), render, trace)
        last = kustomization
    if last is not None:
        _settle_names(resources, last, trace)
    return resources


def _accumulate(
    kustomization: Kustomization,
    resources: list[Resource],
    chain: tuple[Path, ...],
    render: RenderValues,
    trace: Trace | None,
) -> list[Resource]:
    """What a directory makes of the resources so far: its own added, then all transformed."""
    here = kustomization.root.resolve()
    if here in chain:
        names = " -> ".join(os.path.relpath(each) for each in (*chain[chain.index(here) :], here))
        raise OverlayError(Problem(f"the directories name each other in a cycle: {names}", kustomization.shown))
    chain = (*chain, here)
    taken = {each.id.key(): each for each in resources}
    for written, place in kustomization.listed("resources"):
        for each in _loaded(kustomization, written, place, chain, render, trace):
            old = taken.setdefault(each.id.key(), each)
            if old is not each:
                notes = (("first", str(old.place)),) if old.place else ()
                raise OverlayError(Problem(f"{each.id} is there twice", "resources", each.place or place, notes))
            resources.append(each)
    for written, place in kustomization.listed("components"):
        path = local_path(kustomization.root, written, place, below=False)
        if not path.is_dir():
            raise OverlayError(Problem(f"{written} is no directory", "components", place))
        component = load_kustomization(path)
        if component.fields.get("kind") != "Component":
            hint = "a component's kustomization.yaml says kind: Component"
            raise OverlayError(Problem(f"{written} is no component", "components", place, hint=hint))
        resources = _accumulate(component, resources, chain, render, trace)
    for each in generators.generate(kustomization):
        if trace is not None:
            trace.loaded(each, None)
        _add_generated(resources, each)
    _transform(kustomization, resources, trace)
    return resources


def _loaded(
    kustomization: Kustomization,
    written: str,
    place: Place | None,
    chain: tuple[Path, ...],
    render: RenderValues,
    trace: Trace | None,
) -> list[Resource]:
    path = local_path(kustomization.root, written, place, below=False)
    if path.is_dir():
        if not is_kustomization(path):
            hint = "list its files, or give it a kustomization.yaml"
            raise OverlayError(Problem(f"{written} has no kustomization.yaml", "resources", place, hint=hint))
        inner = load_kustomization(path)
        if inner.fields.get("kind") == "Component":
            hint = "list it under components"
            raise OverlayError(Problem(f"{written} is a component", "resources", place, hint=hint))
        return _accumulate(inner, [], chain, render, trace)
    if not path.exists():
        raise OverlayError(Problem(f"{written} does not exist", "resources", place))
    if is_values(path):
        source = yamlio.read_source(path)._replace(directory=str(path.parent))
        return [Resource(copy.deepcopy(obj)) for obj in render(source)] if trace is None else trace.rendered(source)
    return load_manifest(read_beside(kustomization.root, written, place), trace)


def is_values(path: Path) -> bool:
    """Whether a file is a values file: one map without apiVersion and kind."""
    nodes = yamlio.load(yamlio.read_source(path))
    return len(nodes) == 1 and isinstance(nodes[0], yamlio.Mapping) and not {"apiVersion", "kind"} & set(nodes[0].items)


def _add_generated(resources: list[Resource], new: Resource) -> None:
    found = find(resources, new.id)
    if new.behavior == "create":
        if found:
            hint = "behavior: merge or replace changes it"
            raise OverlayError(Problem(f"{new.id} is there already", "", new.place, hint=hint))
        resources.append(new)
    elif len(found) != 1:
        many = f"means {len(found)} objects" if found else "is not there"
        raise OverlayError(Problem(f"{new.id} {many}, but behavior is {new.behavior}", "", new.place))
    else:
        generators.merged(found[0], new)


def _transform(kustomization: Kustomization, resources: list[Resource], trace: Trace | None) -> None:
    fields = kustomization.fields
    strategic_merges(kustomization, resources, trace)
    patches(kustomization, resources, "patches", trace)
    with _watched(kustomization, "namespace", resources, trace):
        if fields.get("namespace"):
            transformers.set_namespace(resources, fields["namespace"])
            _check_ids(kustomization, resources, "namespace")
    with _watched(kustomization, "namePrefix", resources, trace):
        transformers.add_affixes(resources, fields.get("namePrefix", ""), "")
    with _watched(kustomization, "nameSuffix", resources, trace):
        transformers.add_affixes(resources, "", fields.get("nameSuffix", ""))
    with _watched(kustomization, "labels", resources, trace):
        for entry in fields.get("labels", []):
            transformers.add_pairs(resources, entry.get("pairs", {}), transformers.label_specs(entry))
    with _watched(kustomization, "commonLabels", resources, trace):
        transformers.add_pairs(resources, fields.get("commonLabels", {}), COMMON_LABELS)
    with _watched(kustomization, "commonAnnotations", resources, trace):
        transformers.add_pairs(resources, fields.get("commonAnnotations", {}), COMMON_ANNOTATIONS)
    patches(kustomization, resources, "patchesJson6902", trace)
    with _watched(kustomization, "replicas", resources, trace):
        _set_replicas(kustomization, resources)
    with _watched(kustomization, "images", resources, trace):
        transformers.set_images(resources, fields.get("images", []))
    with _watched(kustomization, "replacements", resources, trace):
        replacements.replace(kustomization, resources)


@contextlib.contextmanager
def _watched(
    kustomization: Kustomization, field: str, resources: Sequence[Resource], trace: Trace | None
) -> Iterator[None]:
    """Tell the trace what a field of the kustomization changes."""
    node = kustomization.node.items[field][1] if field in kustomization.node.items else None
    before = [] if trace is None or node is None else [copy.deepcopy(each.obj) for each in resources]
    yield
    if trace is not None:
        for old, each in zip(before, resources, strict=False):
            if old != each.obj:
                trace.changed(each, old, node)


def _settle_names(resources: Sequence[Resource], kustomization: Kustomization, trace: Trace | None) -> None:
    """Hashes of generated names, and every name where others refer to it."""
    makers = ("configMapGenerator", "secretGenerator", "namePrefix", "nameSuffix")
    field = next((name for name in makers if name in kustomization.node.items), "resources")
    with _watched(kustomization, field, resources, trace):
        for each in resources:
            if each.hashed:
                each.rename(name=f"{each.id.name}-{generators.content_hash(each.obj)}")
        references.follow(resources)


def _set_replicas(kustomization: Kustomization, resources: Sequence[Resource]) -> None:
    for number, entry in enumerate(kustomization.fields.get("replicas", [])):
        if not transformers.set_replicas(resources, entry["name"], entry["count"]):
            names = ", ".join(str(each.id) for each in resources) or "no objects"
            message = f"no object named {entry['name']} has replicas"
            raise kustomization.problem(message, "replicas", number, hint=f"there are {names}")


def _check_ids(kustomization: Kustomization, resources: Sequence[Resource], field: str) -> None:
    seen: dict[Any, Resource] = {}
    for each in resources:
        if each.id.key() in seen:
            raise kustomization.problem(f"makes {each.id} of two objects", field)
        seen[each.id.key()] = each


def _finished(resources: list[Resource], kustomization: Kustomization, trace: Trace | None) -> list[Resource]:
    """Hashes, references, order and labels of the whole, as the outermost directory wants them."""
    _settle_names(resources, kustomization, trace)
    fields = kustomization.fields
    metadata = fields.get("buildMetadata", [])
    if "managedByLabel" in metadata:
        from mlxtpl import __version__

        transformers.add_pairs(resources, {_MANAGED_BY: f"mlxtpl-v{__version__}"}, METADATA_LABELS)
    if "originAnnotations" in metadata:
        for each in resources:
            if each.place is not None:
                path = os.path.relpath(each.place.source.name, kustomization.root)
                origin = f"path: {path}\n"
                if Path(path).name in NAMES:  # made by a generator there
                    by = f"  apiVersion: builtin\n  kind: {each.id.kind}Generator\n"
                    origin = f"configuredIn: {path}\nconfiguredBy:\n{by}"
                each.metadata().setdefault("annotations", {})["config.kubernetes.io/origin"] = origin
    options = fields.get("sortOptions", {})
    if options.get("order", "legacy") == "fifo":
        return resources
    legacy = options.get("legacySortOptions", {})
    first, last = legacy.get("orderFirst", _FIRST), legacy.get("orderLast", _LAST)
    return sorted(resources, key=lambda each: _rank(each, first, last))


def _rank(resource: Resource, first: Sequence[str], last: Sequence[str]) -> tuple[Any, ...]:
    group, version, kind, namespace, name = resource.id
    place = first.index(kind) - len(first) if kind in first else last.index(kind) + 1 if kind in last else 0
    words = f"{group or '~G'}_{version or '~V'}_{kind or '~K'}"
    return place, words, f"{namespace or '~X'}|{name or '~N'}"
