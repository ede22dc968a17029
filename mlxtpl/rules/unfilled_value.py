"""An argument or a variable looks like a placeholder.

## Why   examples are copied before they are filled in: the program gets <path> or CHANGEME as it stands
## Bad   args: [--data, <path>], env: [{name: TEAM, value: CHANGEME}]
## Good  args: [--data, /data]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Part, Subject

ID = "unfilled-value"
LEVEL = "warning"
# Special tokens of language models.
_TOKENS = frozenset("pad bos eos s unk mask sep cls eot sot image video audio br".split())
# The whole text: shells, JSON and formats have braces of their own.
_PLACEHOLDER = re.compile(
    r"\{\{? *[\w .-]*\w[\w .-]* *\}?\}|<[\w .-]*\w[\w .-]*>|change[-_ ]?me|replace[-_ ]?me|to[-_ ]?do|xxx+|your[-_ ][\w-]+",
    re.IGNORECASE,
)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the usual forms of placeholders in examples."""
    for container in subject.containers(*TRAINING):
        texts: list[Part] = [each.at("value") for each in container.items("env")]
        for field in ("command", "args"):
            texts += [container.at(field, number) for number in range(len(container.words(field)))]
        for text in texts:
            if (
                isinstance(text.value, str)
                and text.value.strip("<> ").lower() not in _TOKENS
                and _PLACEHOLDER.fullmatch(text.value.strip())
            ):
                yield text.finding(f'looks like a placeholder: "{text.value}"')
