"""kustomize's built-in transformers: namespace, prefix and suffix, labels, annotations, images, replicas."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlxtpl import fieldspecs
from mlxtpl.fieldspecs import FieldSpec
from mlxtpl.resources import CLUSTER_SCOPED, Resource

_KEEP_THEIR_NAME = ("CustomResourceDefinition", "APIService", "Namespace")


def set_namespace(resources: Sequence[Resource], namespace: str) -> None:
    """Every namespaced object goes to the namespace; a Namespace object takes its name."""
    for each in resources:
        kind = each.id.kind
        if kind == "Namespace":
            each.rename(name=namespace)
        elif kind not in CLUSTER_SCOPED:
            each.rename(namespace=namespace)
        if kind in ("RoleBinding", "ClusterRoleBinding"):
            for subject in each.obj.get("subjects") or []:
                if isinstance(subject, dict) and (subject.get("kind"), subject.get("name")) == (
                    "ServiceAccount",
                    "default",
                ):
                    subject["namespace"] = namespace


def add_affixes(resources: Sequence[Resource], prefix: str, suffix: str) -> None:
    """Names get a prefix and a suffix; a kind whose name is no free choice keeps it."""
    for each in resources:
        if each.id.kind in _KEEP_THEIR_NAME:
            continue
        if prefix:
            each.rename(name=prefix + each.id.name)
            each.prefixes.append(prefix)
        if suffix:
            each.rename(name=each.id.name + suffix)
            each.suffixes.append(suffix)


def add_pairs(resources: Sequence[Resource], pairs: Mapping[str, str], specs: tuple[FieldSpec, ...]) -> None:
    """Labels or annotations, wherever the specs say."""
    if not pairs:
        return
    for each in resources:
        for spec in fieldspecs.fitting(specs, each.id):
            fieldspecs.visit(each.obj, spec.path, _with(pairs), create={} if spec.create else None)


def _with(pairs: Mapping[str, str]) -> Callable[[Any], Any]:
    return lambda there: {**(there if isinstance(there, dict) else {}), **pairs}


def label_specs(entry: Mapping[str, Any]) -> tuple[FieldSpec, ...]:
    """Where an entry of `labels` writes."""
    own = tuple(
        FieldSpec(
            each["path"],
            each.get("kind", ""),
            each.get("group", ""),
            each.get("version", ""),
            each.get("create", False),
        )
        for each in entry.get("fields", [])
    )
    if entry.get("includeSelectors"):
        return (*fieldspecs.COMMON_LABELS, *own)
    templates = fieldspecs.TEMPLATE_LABELS if entry.get("includeTemplates") else ()
    return (*fieldspecs.METADATA_LABELS, *templates, *own)


def set_images(resources: Sequence[Resource], images: Sequence[Mapping[str, Any]]) -> None:
    """New names, tags or digests, in every list called containers or initContainers."""
    for each in resources:
        for image in images:
            _set_images(each.obj, image)


def _set_images(tree: Any, image: Mapping[str, Any]) -> None:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key in ("containers", "initContainers") and isinstance(value, list):
                for container in value:
                    if isinstance(container, dict) and isinstance(container.get("image"), str):
                        container["image"] = new_image(container["image"], image)
            _set_images(value, image)
    elif isinstance(tree, list):
        for each in tree:
            _set_images(each, image)


def new_image(old: str, image: Mapping[str, Any]) -> str:
    """An image as an entry of `images` makes it.

    >>> new_image("a:1", {"name": "a", "newName": "b/c", "newTag": "2"}), new_image("a:1", {"name": "a", "digest": "sha256:f"})
    ('b/c:2', 'a@sha256:f')
    >>> new_image("a:1", {"name": "a", "tagSuffix": "-gpu"}), new_image("ab:1", {"name": "a", "newTag": "2"})
    ('a:1-gpu', 'ab:1')
    """
    if not re.fullmatch(rf"{image['name']}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?", old):
        return old
    name, tag, digest = split_image(old)
    name = image.get("newName") or name
    if image.get("newTag") and image.get("digest"):
        tag, digest = f":{image['newTag']}", f"@{image['digest']}"
    elif image.get("newTag"):
        tag, digest = f":{image['newTag']}", ""
    elif image.get("digest"):
        tag, digest = "", f"@{image['digest']}"
    elif image.get("tagSuffix"):
        tag, digest = f":{tag[1:]}{image['tagSuffix']}", ""
    return f"{name}{tag}{digest}"


def split_image(image: str) -> tuple[str, str, str]:
    """Name, `:tag` and `@digest`.

    >>> split_image("host:5000/a:1@sha256:f"), split_image("host:5000/a")
    (('host:5000/a', ':1', '@sha256:f'), ('host:5000/a', '', ''))
    """
    rest, at, digest = image.partition("@")
    name, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:
        name, colon, tag = rest, "", ""
    return name, colon + tag, at + digest


def _fit_elastic(spec: Any, old: Sequence[Any], count: int) -> None:
    """The rendezvous of a PyTorchJob waits for as many Workers as there are."""
    elastic = spec.get("elasticPolicy") if isinstance(spec, dict) else None
    if isinstance(elastic, dict):
        for key in ("minReplicas", "maxReplicas"):
            if elastic.get(key) in old or (
                key == "minReplicas" and isinstance(elastic.get(key), int) and elastic[key] > count
            ):
                elastic[key] = count


def set_replicas(resources: Sequence[Resource], name: str, count: int) -> bool:
    """How many replicas the objects of a name have; a PyTorchJob: its Workers.

    Returns:
        whether there was such an object of a kind that has replicas.
    """
    found = False
    for each in resources:
        if any(one.name == name for one in each.ids()):
            for spec in fieldspecs.fitting(fieldspecs.REPLICAS, each.id):
                old: list[Any] = []
                fieldspecs.visit(each.obj, spec.path, lambda value, old=old: old.append(value) or count, create=0)  # type: ignore[misc]
                found = True
                if each.id.kind == "PyTorchJob":
                    _fit_elastic(each.obj.get("spec"), old, count)
    return found
