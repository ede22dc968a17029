"""ConfigMaps beside a job → the values key `files`, where the container then sees the very same files."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from mlxtpl import kinds
from mlxtpl.manifest import Object, Part, training_container


def files_of(obj: Object, config_maps: Mapping[str, Object]) -> tuple[Object, dict[str, Any], list[str]]:
    """(the job without the volumes that become files, the files by path, the names of the ConfigMaps that they replace).

    A ConfigMap becomes files when a volume has it as it is, only the training container mounts that volume, whole or by
    key, and nothing else of the job speaks of it.
    """
    templates = kinds.pod_templates(obj)
    if len(templates) != 1:
        return obj, {}, []
    obj = copy.deepcopy(obj)
    ((path, template),) = kinds.pod_templates(obj)
    container = training_container(Part(0, obj, path, template))
    files: dict[str, Any] = {}
    used: list[str] = []
    for volume in list((template.get("spec") or {}).get("volumes") or []):
        source = volume.get("configMap")
        name = source.get("name") if isinstance(source, dict) and list(source) == ["name"] else None
        given = config_maps.get(str(name))
        if given is None or container is None or not _is_plain(given) or _mentions(obj, str(name)) != 1:
            continue
        mounts = [each for each in container.value.get("volumeMounts") or [] if each.get("name") == volume.get("name")]
        found = _by_path(mounts, given["data"])
        if found is None or _mounts_of(template, volume["name"]) != len(mounts) or files.keys() & found.keys():
            continue
        files |= found
        used.append(str(name))
        template["spec"]["volumes"].remove(volume)
        for mount in mounts:
            container.value["volumeMounts"].remove(mount)
    return obj, files, used


def _is_plain(config_map: Object) -> bool:
    data = config_map.get("data")
    texts = isinstance(data, dict) and data and all(isinstance(each, str) for each in data.values())
    return bool(texts) and not config_map.get("binaryData") and not config_map.get("immutable")


def _by_path(mounts: Sequence[Mapping[str, Any]], data: Mapping[str, str]) -> dict[str, Any] | None:
    """Path → {text}; None when a mount is of another kind."""
    found: dict[str, Any] = {}
    for mount in mounts:
        where = str(mount.get("mountPath"))
        if not set(mount) <= {"name", "mountPath", "subPath", "readOnly"} or not where.startswith("/"):
            return None
        if "subPath" not in mount:
            found |= {f"{where.rstrip('/')}/{key}": {"text": text} for key, text in data.items()}
        elif mount["subPath"] in data:
            found[where] = {"text": data[mount["subPath"]]}
        else:
            return None
    return found or None


def _mentions(tree: Any, name: str) -> int:
    """How often a ConfigMap is spoken of."""
    if isinstance(tree, dict):
        own = sum(
            1
            for key in ("configMap", "configMapRef", "configMapKeyRef")
            if isinstance(tree.get(key), dict) and tree[key].get("name") == name
        )
        return own + sum(_mentions(each, name) for each in tree.values())
    return sum(_mentions(each, name) for each in tree) if isinstance(tree, list) else 0


def _mounts_of(template: Any, volume: str) -> int:
    spec = template.get("spec") or {}
    containers: list[Any] = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    return sum(bool(each.get("name") == volume) for one in containers for each in one.get("volumeMounts") or [])
