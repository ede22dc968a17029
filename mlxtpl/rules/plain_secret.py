"""A secret stands in the manifest in plain text.

## Why   whoever can read the repository, the job or its pods has it: kubectl get -o yaml shows it. The value is never shown
         by mlxtpl
## Bad   env: [{name: WANDB_API_KEY, value: …}], args: [--token, hf_…]
## Good  env: [{name: WANDB_API_KEY, valueFrom: {secretKeyRef: {name: wandb, key: api-key}}}]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlxtpl.manifest import TRAINING, Finding, Part, Subject

ID = "plain-secret"
LEVEL = "warning"
_NAME = re.compile(
    r"(^|_)((?<!PAD_|EOS_|BOS_|UNK_|SEP_|CLS_|MAX_|NUM_)(?<!MASK_|STOP_)TOKEN|API_?KEY|ACCESS_KEY(_ID)?|SECRET(_KEY|_ACCESS_KEY)?|PASS(WORD|WD|PHRASE)|PRIVATE_KEY|CREDENTIALS?)$",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\b(hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[0-9A-Z]{16}"
    r"|sk-[A-Za-z0-9]{20,}|sk-(proj|svcacct|admin|ant|or)-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|nvapi-[\w-]{20,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*|(?<=://)[^/\s:@$]+:[^/\s@$]+(?=@)"
)
_NONE = re.compile(
    r"\s*|\$\(.*\)|\$\{.*\}|true|false|[0-9]{1,4}|none|null|/.*|<.*>|\{.*\}|x+|\*+", re.IGNORECASE | re.DOTALL
)


def check(subject: Subject) -> Iterator[Finding]:
    """Source: the platform's guide keeps credentials in Secrets; the prefixes are those of the services' own tokens."""
    for container in subject.containers(*TRAINING):
        for entry in container.items("env"):
            value = entry.at("value").value
            named = _NAME.search(entry.text("name")) and value is not None and not _NONE.fullmatch(str(value))
            token = _VALUE.search(str(value))
            if named or token:
                yield _found(entry.at("value"), True if named or not token else token.group())
        for field in ("command", "args"):
            words = container.at(field).value
            for number, word in enumerate(words if isinstance(words, list) else []):
                token = _VALUE.search(word) if isinstance(word, str) else None
                if token:
                    yield _found(container.at(field, number), token.group())


def _found(part: Part, secret: bool | str) -> Finding:
    hint = "valueFrom: {secretKeyRef: {name: …, key: …}}; in a values file {secret: {name: …, key: …}}"
    return part.finding("must not be a secret in plain text", hint=hint, secret=secret)
