"""The manifest: the ordered Kubernetes objects that come out, how messages name them, and how rules look into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mlxtpl import kinds

Object = dict[str, Any]
Manifest = list[Object]
Path = tuple[Any, ...]

# The kinds that train: what the platform asks of a training job is asked of these.
TRAINING = ("Job", "CronJob", "PyTorchJob")


def object_id(obj: Object) -> str:
    """`Kind/name`, with the namespace in front when there is one; `Kind/prefix-…` for a generated name."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    namespace, name, prefix = (metadata.get(key) for key in ("namespace", "name", "generateName"))
    name = f"{prefix}…" if name is None and prefix else name
    return f"{f'{namespace}/' if namespace else ''}{obj.get('kind')}/{name}"


class Edit(NamedTuple):
    """A change that mends a hand-written manifest.

    Attributes:
        op: `set` (make a field, and the maps on the way to it), `append` (an item to a list, which is made when it is
            not there), `remove` (a field), `rename` (a key; `value` is the new one), `quote` (a scalar, as it is spelled).
        path: the field, by numbers.
    """

    op: str
    path: Path
    value: Any = None


class Finding(NamedTuple):
    """A fault that a rule found.

    Attributes:
        message: what was wanted and what was found; lower case, no full stop.
        number: the object's number in the manifest.
        path: the field at fault, by numbers; it need not be there.
        key: the key is at fault, not its value.
        edits: what mends it, when there is one right answer.
        secret: the value must not be shown, or this part of it.
    """

    message: str
    number: int
    path: Path
    hint: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    key: bool = False
    edits: tuple[Edit, ...] = ()
    secret: bool | str = False


class Part(NamedTuple):
    """A value somewhere in an object of the manifest; `value` is None where there is nothing.

    Looking into a value of the wrong shape finds nothing: that is told by a rule of its own.
    """

    number: int
    obj: Object
    path: Path
    value: Any

    def at(self, *steps: Any) -> Part:
        """The part below: a key of a map, a number of a list."""
        return Part(self.number, self.obj, self.path + steps, _below(self.value, steps))

    def map(self, *steps: Any) -> dict[str, Any]:
        """The map below; empty where there is none."""
        value = _below(self.value, steps)
        return value if isinstance(value, dict) else {}

    def text(self, *steps: Any) -> str:
        """The text below; empty where there is none."""
        value = _below(self.value, steps)
        return value if isinstance(value, str) else ""

    def integer(self, *steps: Any) -> int | None:
        """The integer below; None where there is none."""
        value = _below(self.value, steps)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def items(self, *steps: Any) -> list[Part]:
        """The items of the list below that are maps, or the values of the map below that are maps."""
        value, path = _below(self.value, steps), self.path + steps
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [Part(self.number, self.obj, (*path, step), each) for step, each in pairs if isinstance(each, dict)]

    def words(self, *steps: Any) -> list[str]:
        """The scalars of the list below, as text."""
        value = _below(self.value, steps)
        return [str(each) for each in value if not isinstance(each, (dict, list))] if isinstance(value, list) else []

    def env(self, name: str) -> Part | None:
        """The entry of a container's env that counts: the last of that name."""
        return next((each for each in reversed(self.items("env")) if each.value.get("name") == name), None)

    def finding(self, message: str, *steps: Any, **more: Any) -> Finding:
        """A fault of the part below."""
        return Finding(message, self.number, (*self.path, *steps), **more)


def _below(value: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step) if isinstance(step, str) else None
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


class Fault(NamedTuple):
    """A finding of the schema under the id of the rule that tells it."""

    rule: str
    finding: Finding


class Subject:
    """What rules look at: the objects, and what is known about the cluster.

    Attributes:
        driver: the version of the nodes' NVIDIA driver; empty when it is not known.
        faults: what the schema of Kubernetes says of the objects; empty when it was not asked.
    """

    def __init__(self, objects: Manifest, driver: str = "", faults: tuple[Fault, ...] = ()) -> None:
        self.objects = objects
        self.driver = driver
        self.faults = faults
        self._found: dict[Any, list[Any]] = {}  # a hundred rules ask for the same parts

    def _once(self, key: Any, make: Callable[[], Iterator[Any]]) -> list[Any]:
        if key not in self._found:
            self._found[key] = list(make())
        return self._found[key]

    def parts(self, *wanted: str) -> list[Part]:
        """Each object, or each of these kinds (of the apiVersion that we know)."""
        return self._once(("parts", wanted), lambda: self._parts(wanted))

    def _parts(self, wanted: tuple[str, ...]) -> Iterator[Part]:
        for number, obj in enumerate(self.objects):
            kind = kinds.find_kind(obj)
            if not wanted or (kind is not None and kind.kind in wanted):
                yield Part(number, obj, (), obj)

    def jobs(self) -> Iterator[Part]:
        """The spec of each Job, and of the Jobs of each CronJob."""
        for part in self.parts("Job", "CronJob"):
            yield part.at("spec") if part.obj["kind"] == "Job" else part.at("spec", "jobTemplate", "spec")

    def replicas(self) -> Iterator[Part]:
        """Each replica spec of each PyTorchJob; the last step of its path is Master or Worker."""
        for part in self.parts("PyTorchJob"):
            yield from part.items("spec", "pytorchReplicaSpecs")

    def templates(self, *wanted: str) -> list[Part]:
        """The pod templates of each object, or of each of these kinds."""
        return self._once(
            ("templates", wanted),
            lambda: (part.at(*path) for part in self.parts(*wanted) for path, _ in kinds.pod_templates(part.obj)),
        )

    def containers(self, *wanted: str) -> list[Part]:
        """The containers of their pod templates, init containers too."""
        return self._once(
            ("containers", wanted),
            lambda: (
                container
                for template in self.templates(*wanted)
                for name in ("initContainers", "containers")
                for container in template.items("spec", name)
            ),
        )

    def training(self, *wanted: str) -> list[tuple[Part, Part]]:
        """(pod template, training container) of each training job that has one."""
        return self._once(("training", wanted), lambda: self._training(wanted or TRAINING))

    def _training(self, wanted: tuple[str, ...]) -> Iterator[tuple[Part, Part]]:
        for template in self.templates(*wanted):
            container = training_container(template)
            if container is not None:
                yield template, container


def training_container(template: Part) -> Part | None:
    """The container of a pod template that trains.

    In a PyTorchJob it is the one named pytorch; elsewhere the one named main, the first with a GPU, or the first.
    """
    kind = kinds.find_kind(template.obj)
    containers = template.items("spec", "containers")
    named = [each for each in containers if kind is not None and each.value.get("name") == kind.container]
    if named or template.obj.get("kind") == "PyTorchJob":
        return named[0] if named else None
    return next((each for each in containers if gpus(each)), containers[0] if containers else None)


def launch(container: Part) -> list[str]:
    """The words that start a container: command and args."""
    return [*container.words("command"), *container.words("args")]


def resource(container: Part, name: str) -> Any:
    """How much of a resource a container may use: its limit; None when there is none."""
    return container.map("resources", "limits").get(name)


def gpus(container: Part) -> int:
    """How many GPUs a container is given."""
    amounts = [v for k, v in container.map("resources", "limits").items() if k.endswith("/gpu")]
    return sum(int(str(each)) for each in amounts if str(each).isascii() and str(each).isdigit() and len(str(each)) < 9)
