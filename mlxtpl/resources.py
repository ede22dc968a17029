"""Objects on their way through overlays: what they are called, what they were called, and how they are chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mlxtpl import yamlio
from mlxtpl.errors import MlxtplError, OverlayError, Place, Problem, Source

# Kinds without a namespace. Source: kubectl api-resources --namespaced=false of Kubernetes 1.32, built-in groups.
CLUSTER_SCOPED = frozenset(
    """APIService CertificateSigningRequest ClusterRole ClusterRoleBinding ComponentStatus CSIDriver CSINode
    CustomResourceDefinition FlowSchema IngressClass MutatingWebhookConfiguration Namespace Node PersistentVolume
    PodSecurityPolicy PriorityClass PriorityLevelConfiguration RuntimeClass StorageClass TokenReview
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttachment""".split()
)


class Id(NamedTuple):
    """What an object is known by."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        api_version = f"{self.group}/{self.version}" if self.group else self.version
        namespace = f" in {self.namespace}" if self.namespace else ""
        return f"{api_version} {self.kind} {self.name}{namespace}"

    def same(self, other: Id) -> bool:
        """Whether both mean one object."""
        return self.key() == other.key()

    def key(self) -> tuple[str, ...]:
        """What makes it one; no namespace is the namespace `default`, and none for a cluster-scoped kind."""
        return (self.group, self.version, self.kind, self.scope(), self.name)

    def scope(self) -> str:
        """The namespace that counts."""
        return "" if self.kind in CLUSTER_SCOPED else self.namespace or "default"


class Resource:
    """One object, changed in place by transformers.

    Attributes:
        obj: the object.
        place: where it was written; None for one that a generator or layer made.
        before: its earlier ids, oldest first.
        prefixes, suffixes: what was added to its name, innermost first.
        hashed: its name gets a hash of its content at the end.
        behavior: of a generated one: create, merge or replace.
        history: what a Trace keeps about it.
    """

    __slots__ = ("before", "behavior", "hashed", "history", "obj", "place", "prefixes", "suffixes")

    def __init__(self, obj: dict[str, Any], place: Place | None = None) -> None:
        self.obj = obj
        self.place = place
        self.before: list[Id] = []
        self.prefixes: list[str] = []
        self.suffixes: list[str] = []
        self.hashed = False
        self.behavior = "create"
        self.history: Any = None

    @property
    def id(self) -> Id:
        """What it is called now."""
        return id_of(self.obj)

    def ids(self) -> Iterator[Id]:
        """All that it is and was called, oldest first."""
        yield from self.before
        yield self.id

    def metadata(self) -> dict[str, Any]:
        """Its metadata, made when there is none."""
        metadata = self.obj.get("metadata")
        if not isinstance(metadata, dict):
            metadata = self.obj["metadata"] = {}
        return metadata

    def rename(self, **fields: str) -> None:
        """Change name or namespace and remember what it was."""
        old = self.id
        self.metadata().update(fields)
        if self.id != old:
            self.before.append(old)


class Trace(Protocol):
    """Who wants to know where every field comes from; told of each event, before the next one."""

    def loaded(self, resource: Resource, node: yamlio.Node | None) -> None:
        """A resource was read from `node`, or generated."""

    def rendered(self, source: Source) -> list[Resource]:
        """Render a values file among the resources."""

    def changed(self, resource: Resource, before: dict[str, Any], node: yamlio.Node | None) -> None:
        """`node`, a patch or a field of a kustomization, made the resource what it is from `before`."""


def id_of(obj: Mapping[str, Any]) -> Id:
    """The id of an object."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return Id(
        group, version, str(obj.get("kind") or ""), *(str(metadata.get(key) or "") for key in ("namespace", "name"))
    )


def plain(node: yamlio.Node) -> Any:
    """A node as data, scalars typed as Kubernetes' Go parser types them."""
    if isinstance(node, yamlio.Scalar):
        return yamlio.scalar_value(node)
    if isinstance(node, yamlio.Sequence):
        return [plain(each) for each in node.items]
    return {key: plain(value) for key, (_, value) in node.items.items()}


def load_manifest(source: Source, trace: Trace | None = None) -> list[Resource]:
    """The objects of a manifest, those of a List one by one.

    Raises:
        YamlError: it is no strict YAML.
        OverlayError: a document is no object with apiVersion, kind and name.
    """
    found: list[Resource] = []
    problems = []
    for node in yamlio.load(source):
        if yamlio.is_null(node):
            continue
        for each in items(node):
            obj = plain(each)
            missing = _missing(obj)
            if missing:
                hint = "a resource is a Kubernetes object, a kustomization directory or a values file"
                problems.append(Problem(f"{missing} is missing", source.name, each.place, hint=hint))
            else:
                found.append(Resource(obj, each.place))
                if trace is not None:
                    trace.loaded(found[-1], each)
    if problems:
        raise OverlayError(problems)
    return found


def items(node: yamlio.Node) -> Iterator[yamlio.Node]:
    """The objects of a document: of a List one by one."""
    kind = node.items["kind"][1] if isinstance(node, yamlio.Mapping) and "kind" in node.items else None
    items = node.items["items"][1] if isinstance(node, yamlio.Mapping) and "items" in node.items else None
    if isinstance(kind, yamlio.Scalar) and kind.text.endswith("List") and isinstance(items, yamlio.Sequence):
        yield from items.items
    else:
        yield node


def _missing(obj: Any) -> str:
    if not isinstance(obj, dict):
        return "apiVersion"
    for key in ("apiVersion", "kind"):
        if not isinstance(obj.get(key), str) or not obj[key]:
            return key
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return "" if isinstance(name, str) and name else "metadata.name"


def find(resources: Iterable[Resource], wanted: Id) -> list[Resource]:
    """The resources that are or were called so."""
    key = wanted.key()
    return [each for each in resources if any(one.name == wanted.name and one.key() == key for one in each.ids())]


def near(resources: Iterable[Resource], wanted: Id) -> str:
    """The hint for an object that is not there: the nearest, or all that there are."""
    import difflib

    names = {str(each.id): each for each in resources}
    close = difflib.get_close_matches(str(wanted), names, 1, 0.7)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'no objects'}"


class Selector(NamedTuple):
    """Which resources a patch or replacement is for; every part is a regular expression of the whole, empty is any."""

    group: str = ""
    version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    labels: str = ""
    annotations: str = ""

    def select(self, resources: Iterable[Resource]) -> list[Resource]:
        """The resources that it means, by what they are or were called."""
        return [each for each in resources if self._matches(each)]

    def _matches(self, resource: Resource) -> bool:
        current = resource.id
        if not all(_full(pattern, part) for pattern, part in zip(self[:3], current[:3], strict=True)):
            return False
        if not any(
            (not self.namespace or _full(self.namespace, one.scope())) and _full(self.name, one.name)
            for one in resource.ids()
        ):
            return False
        metadata = resource.obj.get("metadata") or {}
        return matches_labels(self.labels, metadata.get("labels")) and matches_labels(
            self.annotations, metadata.get("annotations")
        )


def _full(pattern: str, text: str) -> bool:
    return not pattern or re.fullmatch(pattern, text) is not None


_REQUIREMENT = re.compile(
    r"\s*(?:(?P<not>!)\s*(?P<absent>[^\s,=!()]+)|(?P<key>[^\s,=!()]+)\s*"
    r"(?:(?P<sign>==|=|!=)\s*(?P<value>[^\s,()]*)|(?P<word>in|notin)\s*\((?P<values>[^)]*)\))?)\s*(?:,|\Z)"
)


def matches_labels(selector: str, labels: Any) -> bool:
    """Kubernetes' label selectors: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.

    Raises:
        ValueError: the selector is no such text.
    """
    labels = labels if isinstance(labels, dict) else {}
    at = 0
    while at < len(selector):
        match = _REQUIREMENT.match(selector, at)
        if match is None:
            raise ValueError(f"cannot read the selector at {selector[at:]}")
        at = match.end()
        if match["absent"]:
            good = match["absent"] not in labels
        elif match["word"]:
            inside = labels.get(match["key"]) in [each.strip() for each in match["values"].split(",")]
            good = inside if match["word"] == "in" else not inside
        elif match["sign"] == "!=":
            good = labels.get(match["key"]) != match["value"]
        elif match["sign"]:
            good = match["key"] in labels and str(labels[match["key"]]) == match["value"]
        else:
            good = match["key"] in labels
        if not good:
            return False
    return True


_REMOTE = re.compile(r"[a-z0-9+.-]+://|[\w.-]+@[\w.-]+:|(github|gitlab|bitbucket)\.(com|org)[/:]|git::", re.IGNORECASE)


def local_path(root: Path, name: str, place: Place | None, *, below: bool = True) -> Path:
    """The path of something that a kustomization names.

    Args:
        below: whether it must lie in or below the root, as kustomize restricts files.

    Raises:
        OverlayError: it is a URL, or lies outside.
    """
    if _REMOTE.match(name):
        hint = "fetch it yourself and name the local directory; a render uses no network"
        raise OverlayError(Problem(f"{name} is remote, which is not supported", "", place, hint=hint))
    try:
        inside = root.resolve() in Path(root, name).resolve().parents
    except (OSError, ValueError, RuntimeError):
        inside = False
    if below and not inside:
        hint = "a file must lie in or below the directory of its kustomization; a directory may lie anywhere"
        raise OverlayError(Problem(f"{name} lies outside of {root}", "", place, hint=hint))
    path = Path(os.path.normpath(root / name))
    try:
        path.exists()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or str(error)).lower()
        raise OverlayError(Problem(f"cannot read {name[:100]}: {reason}", "", place)) from None
    return path


def read_beside(root: Path, name: str, place: Place | None) -> Source:
    """A file of a kustomization directory.

    Raises:
        OverlayError: it lies outside, is a URL, or cannot be read.
    """
    path = local_path(root, name, place)
    try:
        return yamlio.read_source(path)._replace(directory=str(path.parent))
    except MlxtplError as error:
        raise OverlayError([each._replace(place=each.place or place) for each in error.problems]) from None


def read_bytes_beside(root: Path, name: str, place: Place | None) -> bytes:
    """The bytes of a file of a kustomization directory.

    Raises:
        OverlayError: as `read_beside`.
    """
    path = local_path(root, name, place)
    try:
        with path.open("rb") as file:
            data = file.read(yamlio.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or str(error)).lower()
        raise OverlayError(Problem(f"cannot read {path}: {reason}", "", place)) from None
    if len(data) > yamlio.MAX_BYTES:
        raise OverlayError(Problem(f"{path} is larger than {yamlio.MAX_BYTES // 2**20} MiB", "", place))
    return data
