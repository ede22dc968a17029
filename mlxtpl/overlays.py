"""Kustomization directories → Manifest, and their transformations on a manifest that the layers rendered."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mlxtpl import generators, references, replacements, transformers, yamlio
from mlxtpl.errors import OverlayError, Place, Problem, Source
from mlxtpl.fieldspecs import COMMON_ANNOTATIONS, COMMON_LABELS
from mlxtpl.kustomization import Kustomization, is_kustomization, load_kustomization
from mlxtpl.manifest import Manifest
from mlxtpl.patches import Record, patches, strategic_merges
from mlxtpl.resources import Resource, find, load_manifest, local_path, read_beside

# A values file among the resources → its manifest.
RenderValues = Callable[[Source], Manifest]

# Source: kustomize v5.8, api/internal/builtins/SortOrderTransformer.go.
_FIRST = ("Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
          "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
          "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
          "CronJob", "PodDisruptionBudget")  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_MANAGED_BY = "app.kubernetes.io/managed-by"


def build(root: Path, render: RenderValues, record: Record | None = None) -> Manifest:
    """The objects of a kustomization directory, as `kubectl kustomize` prints them.

    Args:
        root: the directory.
        render: renders a values file that is one of the resources.
        record: told of each patch, for origins.

    Raises:
        OverlayError: anything in the directory is wrong.
        MlxtplError: a values file does not render.
    """
    kustomization = load_kustomization(root)
    if not any(value for key, value in kustomization.fields.items() if key not in ("apiVersion", "kind", "metadata")):
        raise OverlayError(Problem("says nothing", kustomization.shown, hint="list resources"))
    resources = _accumulate(kustomization, [], (), render, record)
    return [each.obj for each in _finished(resources, kustomization)]


def apply_overlays(
    manifest: Manifest,
    directories: Sequence[tuple[Path, Place | None]],
    render: RenderValues,
    record: Record | None = None,
) -> Manifest:
    """A manifest with kustomization directories applied, in order, as kustomize applies components.

    Args:
        manifest: the objects; they are not changed, and their order stays.
        directories: each with the place that named it.
        render, record: as of `build`.

    Raises:
        OverlayError: as `build`.
    """
    resources = [Resource(copy.deepcopy(obj)) for obj in manifest]
    for directory, place in directories:
        if not directory.is_dir() or not is_kustomization(directory):
            hint = "an overlay is a directory with a kustomization.yaml"
            raise OverlayError(Problem("is no kustomization directory", str(directory), place, hint=hint))
        kustomization = load_kustomization(directory)
        resources = _accumulate(kustomization, resources, (), render, record)
    _add_hashes(resources)
    references.follow(resources)
    return [each.obj for each in resources]


def _accumulate(
    kustomization: Kustomization,
    resources: list[Resource],
    chain: tuple[Path, ...],
    render: RenderValues,
    record: Record | None,
) -> list[Resource]:
    """What a directory makes of the resources so far: its own added, then all transformed."""
    here = kustomization.root.resolve()
    if here in chain:
        names = " -> ".join(os.path.relpath(each) for each in (*chain[chain.index(here) :], here))
        raise OverlayError(Problem(f"the directories name each other in a cycle: {names}", kustomization.shown))
    chain = (*chain, here)
    for written, place in [*kustomization.listed("resources")]:
        for each in _loaded(kustomization, written, place, chain, render, record):
            _add(resources, each, place)
    for written, place in kustomization.listed("components"):
        path = local_path(kustomization.root, written, place, below=False)
        if not path.is_dir():
            raise OverlayError(Problem(f"{written} is no directory", "components", place))
        component = load_kustomization(path)
        if component.fields.get("kind") != "Component":
            hint = "a component's kustomization.yaml says kind: Component"
            raise OverlayError(Problem(f"{written} is no component", "components", place, hint=hint))
        resources = _accumulate(component, resources, chain, render, record)
    for each in generators.generate(kustomization):
        _add_generated(resources, each)
    _transform(kustomization, resources, record)
    return resources


def _loaded(
    kustomization: Kustomization,
    written: str,
    place: Place | None,
    chain: tuple[Path, ...],
    render: RenderValues,
    record: Record | None,
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
        return _accumulate(inner, [], chain, render, record)
    if not path.exists():
        raise OverlayError(Problem(f"{written} does not exist", "resources", place))
    if _is_values(path):
        source = yamlio.read_source(path)._replace(directory=str(path.parent))
        return [Resource(copy.deepcopy(obj)) for obj in render(source)]
    return load_manifest(read_beside(kustomization.root, written, place))


def _is_values(path: Path) -> bool:
    nodes = yamlio.load(yamlio.read_source(path))
    return len(nodes) == 1 and isinstance(nodes[0], yamlio.Mapping) and not {"apiVersion", "kind"} & set(nodes[0].items)


def _add(resources: list[Resource], new: Resource, place: Place | None) -> None:
    for old in resources:
        if old.id.same(new.id):
            notes = (("first", str(old.place)),) if old.place else ()
            raise OverlayError(Problem(f"{new.id} is there twice", "resources", new.place or place, notes))
    resources.append(new)


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


def _transform(kustomization: Kustomization, resources: list[Resource], record: Record | None) -> None:
    fields = kustomization.fields
    strategic_merges(kustomization, resources, record)
    patches(kustomization, resources, "patches", record)
    if fields.get("namespace"):
        transformers.set_namespace(resources, fields["namespace"])
        _check_ids(kustomization, resources, "namespace")
    transformers.add_affixes(resources, fields.get("namePrefix", ""), "")
    transformers.add_affixes(resources, "", fields.get("nameSuffix", ""))
    for entry in fields.get("labels", []):
        transformers.add_pairs(resources, entry.get("pairs", {}), transformers.label_specs(entry))
    if fields.get("commonLabels"):
        transformers.add_pairs(resources, fields["commonLabels"], COMMON_LABELS)
    if fields.get("commonAnnotations"):
        transformers.add_pairs(resources, fields["commonAnnotations"], COMMON_ANNOTATIONS)
    patches(kustomization, resources, "patchesJson6902", record)
    for number, entry in enumerate(fields.get("replicas", [])):
        if not transformers.set_replicas(resources, entry["name"], entry["count"]):
            names = ", ".join(str(each.id) for each in resources) or "no objects"
            message = f"no object named {entry['name']} has replicas"
            raise kustomization.problem(message, "replicas", number, hint=f"there are {names}")
    transformers.set_images(resources, fields.get("images", []))
    replacements.replace(kustomization, resources)


def _check_ids(kustomization: Kustomization, resources: Sequence[Resource], field: str) -> None:
    seen: dict[Any, Resource] = {}
    for each in resources:
        key = (*each.id[:3], each.id.scope(), each.id.name)
        if key in seen:
            raise kustomization.problem(f"makes {each.id} of two objects", field)
        seen[key] = each


def _add_hashes(resources: Sequence[Resource]) -> None:
    for each in resources:
        if each.hashed:
            each.rename(name=f"{each.id.name}-{generators.content_hash(each.obj)}")


def _finished(resources: list[Resource], kustomization: Kustomization) -> list[Resource]:
    """Hashes, references, order and labels of the whole, as the outermost directory wants them."""
    _add_hashes(resources)
    references.follow(resources)
    fields = kustomization.fields
    metadata = fields.get("buildMetadata", [])
    if "managedByLabel" in metadata:
        from mlxtpl import __version__

        transformers.add_pairs(resources, {_MANAGED_BY: f"mlxtpl-v{__version__}"}, COMMON_LABELS[:1])
    if "originAnnotations" in metadata:
        for each in resources:
            if each.place is not None:
                path = os.path.relpath(each.place.source.name, kustomization.root)
                annotations = each.metadata().setdefault("annotations", {})
                annotations["config.kubernetes.io/origin"] = f"path: {path}\n"
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
