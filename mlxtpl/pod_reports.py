"""Effective pods as a table, as data, and as a picture for a pull request."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from mlxtpl.effective_pods import Container, Effective, Pod, Shape

_MOST_ROWS = 16  # pods that a table or picture shows


def as_text(found: Sequence[Effective]) -> str:
    """For a person: a line for each pod, then what its containers run and see; values that differ by pod side by side."""
    return "\n".join("".join(f"{line}\n" for line in _lines(each)) for each in found)


def _lines(each: Effective) -> list[str]:
    lines = [f"{each.id}", f"  {each.restarts}", f"  {each.success}"]
    if each.volumes:
        lines.append("  volumes: " + ", ".join(f"{name} ({what})" for name, what in each.volumes.items()))
    for shape in each.shapes:
        meet = f", meet at {shape.rendezvous}" if shape.rendezvous else ""
        lines += ["", f"  {shape.title}, {_gpus(shape.gpus)}{meet}"]
        lines += [f"    {row}" for row in _table(shape)]
        for group in _alike(shape.pods):
            for number in range(len(group[0].containers)):
                lines += ["", *_container(group, number)]
    return lines


def _table(shape: Shape) -> list[str]:
    rows = [("POD", "SERVICE", "INIT CONTAINERS", "GPUS", "PORTS")]
    for pod in shape.pods[:_MOST_ROWS]:
        ports = ", ".join(f"{name} {number}" for name, number in pod.ports.items())
        rows.append((pod.name, pod.service or "-", ", ".join(pod.init_containers) or "-", str(pod.gpus), ports or "-"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    more = len(shape.pods) - _MOST_ROWS
    return [*lines, f"… and {more} more"] if more > 0 else lines


def _alike(pods: Sequence[Pod]) -> list[list[Pod]]:
    """The pods in groups whose containers differ in values only."""
    groups: dict[Any, list[Pod]] = {}
    for pod in pods:
        key = [(each.name, [variable.name for variable in each.variables]) for each in pod.containers]
        groups.setdefault((str(key), pod.init_containers), []).append(pod)
    return list(groups.values())


def _container(group: Sequence[Pod], number: int) -> list[str]:
    of_pod = [pod.containers[number] for pod in group]
    pods = group[0].name if len(group) == 1 else f"{group[0].name} … {group[-1].name}"
    lines = [f"    {of_pod[0].name} in {pods}: {of_pod[0].image}"]
    command = _sides([shlex.join(each.command) for each in of_pod])
    lines.append(f"      {command or 'the command of the image'}")
    for at, variable in enumerate(of_pod[0].variables):
        values = _sides([_value(each, at) for each in of_pod])
        by = "" if variable.by == "manifest" else f"   ← {variable.by}"
        lines.append(f"      {variable.name}={values}{by}")
    return lines


def _value(container: Container, at: int) -> str:
    text = container.variables[at].value
    return text if len(text.splitlines()) < 2 else f"{text.splitlines()[0]} …"


def _sides(texts: Sequence[str]) -> str:
    """One text when all are the same, else side by side."""
    if len(set(texts)) == 1:
        return texts[0]
    shown = " | ".join(texts[:_MOST_ROWS])
    return f"{shown} | …" if len(texts) > _MOST_ROWS else shown


def _gpus(count: int) -> str:
    return "no GPU" if count == 0 else f"{count} GPU{'' if count == 1 else 's'}"


def as_data(found: Sequence[Effective]) -> list[dict[str, Any]]:
    """For JSON: `{object, restarts, success, volumes, shapes: [{title, gpus, rendezvous, pods: […]}]}`."""
    return [
        {
            "object": each.id,
            "restarts": each.restarts,
            "success": each.success,
            "volumes": dict(each.volumes),
            "shapes": [
                {
                    "title": shape.title,
                    "gpus": shape.gpus,
                    "rendezvous": shape.rendezvous or None,
                    "pods": [_pod_data(pod) for pod in shape.pods],
                }
                for shape in each.shapes
            ],
        }
        for each in found
    ]


def _pod_data(pod: Pod) -> dict[str, Any]:
    return {
        "name": pod.name,
        "service": pod.service or None,
        "labels": dict(pod.labels),
        "ports": dict(pod.ports),
        "initContainers": list(pod.init_containers),
        "gpus": pod.gpus,
        "containers": [
            {
                "name": each.name,
                "image": each.image,
                "command": list(each.command),
                "gpus": each.gpus,
                "env": [variable._asdict() for variable in each.variables],
            }
            for each in pod.containers
        ],
    }


# --- picture -----------------------------------------------------------------------------------

_WIDTH, _HEIGHT, _GAP, _IN_A_ROW = 190, 92, 16, 4
_STYLE = (
    "text{font:12px sans-serif;fill:#223}.h{font-weight:bold;font-size:13px}.s{fill:#667;font-size:11px}"
    ".pod{fill:#fff;stroke:#557}.gpu{fill:#76b900}.vol{fill:#eef2fb;stroke:#88a}.meet{stroke:#c60;stroke-width:3}"
)


def as_svg(found: Sequence[Effective]) -> str:
    """A picture: a box for each pod with its GPUs, where they meet, and the volumes below."""
    parts: list[str] = []
    top = 0
    for each in found:
        for shape in each.shapes:
            drawn, height = _drawn(each, shape, top)
            parts += drawn
            top += height
    width = _IN_A_ROW * (_WIDTH + _GAP) + _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {max(top, 20)}" width="{width}">'
        f"<style>{_STYLE}</style><rect width='100%' height='100%' fill='#fafafa'/>{''.join(parts)}</svg>\n"
    )


def _drawn(each: Effective, shape: Shape, top: int) -> tuple[list[str], int]:
    """The elements of one shape, and how high they are."""
    meet = f"rendezvous {shape.rendezvous}" if shape.rendezvous else ""
    parts = [
        _text(_GAP, top + 24, f"{each.id}: {shape.title}, {_gpus(shape.gpus)}", "h"),
        _text(_GAP, top + 42, "; ".join(text for text in (meet, each.success) if text), "s"),
    ]
    shown = shape.pods[:_MOST_ROWS]
    y = top + 56
    for number, pod in enumerate(shown):
        x = _GAP + number % _IN_A_ROW * (_WIDTH + _GAP)
        y = top + 56 + number // _IN_A_ROW * (_HEIGHT + _GAP)
        parts += _box(pod, x, y, meets=shape.rendezvous.startswith(f"{pod.name}:"))
    y += _HEIGHT + _GAP if shown else 0
    if len(shape.pods) > len(shown):
        parts.append(_text(_GAP, y + 4, f"… and {len(shape.pods) - len(shown)} more pods", "s"))
        y += 20
    for number, (name, what) in enumerate(each.volumes.items()):
        x = _GAP + number % _IN_A_ROW * (_WIDTH + _GAP)
        at = y + number // _IN_A_ROW * 44
        parts.append(f'<rect class="vol" x="{x}" y="{at}" width="{_WIDTH}" height="36" rx="14"/>')
        parts += [_text(x + 12, at + 15, name), _text(x + 12, at + 29, what, "s")]
    y += (len(each.volumes) + _IN_A_ROW - 1) // _IN_A_ROW * 44
    return parts, y - top + _GAP


def _box(pod: Pod, x: int, y: int, *, meets: bool) -> list[str]:
    parts = [f'<rect class="pod" x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>']
    if meets:
        parts.append(f'<line class="meet" x1="{x}" y1="{y}" x2="{x + _WIDTH}" y2="{y}"/>')
    names = ", ".join((*pod.init_containers, *(each.name for each in pod.containers)))
    parts += [_text(x + 10, y + 18, pod.name), _text(x + 10, y + 34, names, "s")]
    for number in range(min(pod.gpus, 16)):
        at = (x + 10 + number % 8 * 21, y + 44 + number // 8 * 18)
        parts.append(f'<rect class="gpu" x="{at[0]}" y="{at[1]}" width="17" height="14" rx="2"/>')
    if not pod.gpus:
        parts.append(_text(x + 10, y + 56, "no GPU", "s"))
    if pod.service:
        parts.append(_text(x + 10, y + _HEIGHT - 6, f"service :{', '.join(map(str, pod.ports.values()))}", "s"))
    return parts


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    most = 110 if kind == "h" or (x == _GAP and kind == "s" and len(text) > 30) else 30
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return f'<text x="{x}" y="{y}"{f" class={kind!r}" if kind else ""}>{escape(shown)}</text>'
