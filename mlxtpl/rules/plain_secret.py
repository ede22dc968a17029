"""A secret stands in the manifest in plain text.

## Why   whoever can read the repository, the job or its pods has it: kubectl get -o yaml shows it. The value is never shown
         by mlxtpl
## Bad   env: [{name: WANDB_API_KEY, value: …}], args: [--token, hf_…]
## Good  env: [{name: WANDB_API_KEY, valueFrom: {secretKeyRef: {name: wandb, key: api-key}}}]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mlxtpl.manifest import TRAINING, Finding, Part, Subject

ID = "plain-secret"
LEVEL = "warning"
_NAMES = ("TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL")
_VALUES = ("hf_", "gh", "glpat-", "AKIA", "sk-", "xox", "AIza", "nvapi-", "-----BEGIN", "://")


# Compiled when something looks like one: that takes longer than all other rules of a cold start together.
@lru_cache(1)
def _name() -> re.Pattern[str]:
    return re.compile(
        r"(^|_)((?<!PAD_|EOS_|BOS_|UNK_|SEP_|CLS_|MAX_|NUM_)(?<!MASK_|STOP_)TOKEN|API_?KEY|ACCESS_KEY(_ID)?|SECRET(_KEY|_ACCESS_KEY)?|PASS(WORD|WD|PHRASE)|PRIVATE_KEY|CREDENTIALS?)$",
        re.IGNORECASE,
    )


@lru_cache(1)
def _value() -> re.Pattern[str]:
    return re.compile(
        r"\b(hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[0-9A-Z]{16}"
        r"|sk-[A-Za-z0-9]{20,}|sk-(proj|svcacct|admin|ant|or)-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|nvapi-[\w-]{20,})"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*|(?<=://)[^/\s:@$]+:[^/\s@$]+(?=@)"
    )


@lru_cache(1)
def _none() -> re.Pattern[str]:
    return re.compile(
        r"\s*|\$\(.*\)|\$\{.*\}|true|false|[0-9]{1,4}|none|null|/.*|<.*>|\{.*\}|x+|\*+", re.IGNORECASE | re.DOTALL
    )


def _is_named(name: str, value: Any) -> bool:
    if value is None or not any(each in name.upper() for each in _NAMES) or not _name().search(name):
        return False
    return _none().fullmatch(str(value)) is None


def _token(text: str) -> re.Match[str] | None:
    return _value().search(text) if any(each in text for each in _VALUES) else None


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide keeps credentials in Secrets; the prefixes are those of the services' own tokens."""
    for container in subject.containers(*TRAINING):
        for entry in container.items("env"):
            value = entry.at("value").value
            named = _is_named(entry.text("name"), value)
            token = _token(str(value))
            if named or token:
                yield _found(entry.at("value"), True if named or not token else token.group())
        for field in ("command", "args"):
            words = container.at(field).value
            for number, word in enumerate(words if isinstance(words, list) else []):
                token = _token(word) if isinstance(word, str) else None
                if token:
                    yield _found(container.at(field, number), token.group())


def _found(part: Part, secret: bool | str) -> Finding:
    hint = "valueFrom: {secretKeyRef: {name: …, key: …}}; in a values file {secret: {name: …, key: …}}"
    return part.finding("must not be a secret in plain text", hint=hint, secret=secret)
