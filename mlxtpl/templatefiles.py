"""Templates from files, below one root only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jinja2

from mlxtpl.bounds import CLOSE, MAX_SOURCE, OPEN, TemplateFault
from mlxtpl.tracing import MARK


class TemplateFiles(jinja2.BaseLoader):
    """Reads below the root only, links resolved first."""

    def __init__(self, root: Path, shown: str) -> None:
        self.root, self.shown = root.resolve(), shown

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """The text, the name for messages, and that it is up to date.

        Raises:
            TemplateFault: it lies outside, cannot be read, is too large, or holds what mlxtpl uses for itself.
        """
        path = self.root / template
        name = f"{self.shown}/{template}"
        resolved = path.resolve()
        if self.root not in resolved.parents:
            raise TemplateFault(f"{name} leads out of its package", "a template reads files of its own package only")
        try:
            if resolved.exists() and not resolved.is_file():
                raise TemplateFault(f"{name} is no regular file")
            with resolved.open("rb") as file:
                data = file.read(MAX_SOURCE + 1)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise jinja2.TemplateNotFound(template) from None
            raise TemplateFault(f"cannot read {name}: {(error.strerror or str(error)).lower()}") from None
        if len(data) > MAX_SOURCE:
            raise TemplateFault(f"{name} is larger than {MAX_SOURCE // 1024} KiB")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TemplateFault(f"{name} is no UTF-8 text") from None
        if OPEN in text or CLOSE in text or MARK in text:
            raise TemplateFault(
                f"{name} has a private-use character from U+E000 to U+E002", "mlxtpl uses it for itself"
            )
        return text, name, lambda: True
