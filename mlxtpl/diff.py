"""Two manifests, field by field: objects by what they are called, items of lists by their merge key."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mlxtpl import fields, kinds
from mlxtpl.errors import DiffError, Problem
from mlxtpl.fields import Field
from mlxtpl.manifest import Manifest, Object, object_id

_MOST_BYTES = 200 * 1024 * 1024


class Change(NamedTuple):
    """One field, or a whole object (an empty field), that is not the same; None on the side that lacks it."""

    obj: str
    field: Field
    old: Any
    new: Any
    what: str  # added, removed, changed
    was: str = ""  # what the object is called on the old side, when that differs


def compare(old: Manifest, new: Manifest) -> list[Change]:
    """What is added, removed and changed, object by object in the order of the new manifest, removed ones last.

    An object whose name changed (a suffix, a content hash) is compared with the only other one of its kind that is left.

    >>> one = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"hostNetwork": True}}
    >>> [(c.what, fields.text(c.field), c.old, c.new) for c in compare([one], [{**one, "spec": {"dnsPolicy": "Default"}}])]
    [('removed', 'spec.hostNetwork', True, None), ('added', 'spec.dnsPolicy', None, 'Default')]
    """
    before = {_key(obj): obj for obj in old}
    after = {_key(obj): obj for obj in new}
    left = [obj for key, obj in before.items() if key not in after]
    found: list[Change] = []
    for key, obj in after.items():
        partner = before.get(key)
        if partner is None:
            kind = (key[0], obj.get("kind"))
            same = [each for each in left if (_key(each)[0], each.get("kind")) == kind]
            also = [
                each for other, each in after.items() if other not in before and (other[0], each.get("kind")) == kind
            ]
            if len(same) == len(also) == 1:
                partner = same[0]
                left.remove(partner)
        found += _fields(object_id(obj), partner, obj) if partner else [Change(object_id(obj), (), None, obj, "added")]
    return found + [Change(object_id(obj), (), obj, None, "removed") for obj in left]


def _key(obj: Object) -> tuple[Any, ...]:
    group = str(obj.get("apiVersion")).rpartition("/")[0]
    return group, object_id(obj)


def _fields(name: str, old: Object, new: Object) -> Iterator[Change]:
    was = object_id(old) if object_id(old) != name else ""
    kind = kinds.find_kind(new) or kinds.find_kind(old)
    lists = kind.lists if kind else {}
    before = {field: value for field, _, value in fields.walk(old, lists)}
    after = {field: value for field, _, value in fields.walk(new, lists)}
    for field in dict.fromkeys([*before, *after]):
        if field not in after:
            yield Change(name, field, before[field], None, "removed", was)
        elif field not in before:
            yield Change(name, field, None, after[field], "added", was)
        elif before[field] != after[field] or type(before[field]) is not type(after[field]):
            yield Change(name, field, before[field], after[field], "changed", was)


def at_revision(path: Path, revision: str, work: Path) -> Callable[[str], str]:
    """The repository of a path as it was in a git revision, written below `work`.

    Returns:
        what gives for a path of the repository the path of its old version; any other path as it is.

    Raises:
        DiffError: there is no git, no repository, or no such revision or path.
    """
    place = path if path.is_dir() else path.parent
    root = Path(_git(place, "rev-parse", "--show-toplevel").decode().strip())
    commit = (
        _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    )
    archive = _git(root, "archive", "--format=tar", commit)
    if len(archive) > _MOST_BYTES:
        raise DiffError(Problem(f"the revision is larger than {_MOST_BYTES // 2**20} MiB", revision))
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(work, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(work)  # noqa: S202

    def old(each: str) -> str:
        resolved = Path(each).resolve()
        return str(work / resolved.relative_to(root.resolve())) if root.resolve() in resolved.parents else each

    if not Path(old(str(path))).exists():
        raise DiffError(Problem(f"is not there in {revision}", str(path)))
    return old


def _git(place: Path, *words: str) -> bytes:
    try:
        answer = subprocess.run(["git", "-C", str(place), *words], capture_output=True, check=False)  # noqa: S603, S607
    except OSError:
        raise DiffError(Problem("--rev needs git, which is not installed")) from None
    if answer.returncode:
        said = answer.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ") or "there is no such revision"
        raise DiffError(Problem(f"git {words[0]}: {said.splitlines()[0]}", words[-1]))
    return answer.stdout


Origins = Mapping[tuple[str, Field], str]


def as_text(
    changes: Sequence[Change], shown: Callable[[Any], str], old: Origins, new: Origins
) -> list[tuple[str, str]]:
    """Lines for a person, each with its sign: "+", "-", "~", or "" for a heading.

    Args:
        shown: a value on one line.
        old, new: where a field came from on each side, for `--explain`; may be empty.
    """
    lines: list[tuple[str, str]] = []
    last = ""
    for each in changes:
        if not each.field:
            lines.append(("+" if each.what == "added" else "-", each.obj))
            continue
        if each.obj != last:
            lines.append(("", each.obj))
            last = each.obj
        name = fields.text(each.field)
        before, after = _origin(old, each, each.was or each.obj), _origin(new, each, each.obj)
        if each.what == "changed":
            lines.append(("~", f"  {name}: {shown(each.old)}{before} -> {shown(each.new)}{after}"))
        elif each.what == "added":
            lines.append(("+", f"  {name}: {shown(each.new)}{after}"))
        else:
            lines.append(("-", f"  {name}: {shown(each.old)}{before}"))
    return lines


def _origin(origins: Origins, change: Change, obj: str) -> str:
    found = origins.get((obj, change.field))
    return f"  [{found}]" if found else ""


def as_data(changes: Sequence[Change], old: Origins, new: Origins) -> list[dict[str, Any]]:
    """The changes for JSON: `{object, was, field, what, old, new, oldOrigin, newOrigin}`."""
    return [
        {
            "object": each.obj,
            "was": each.was or each.obj,
            "field": fields.text(each.field),
            "what": each.what,
            "old": each.old,
            "new": each.new,
            "oldOrigin": old.get((each.was or each.obj, each.field)),
            "newOrigin": new.get((each.obj, each.field)),
        }
        for each in changes
    ]
