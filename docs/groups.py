"""Print a dependency group of pyproject.toml, one requirement a line; works without tomllib (python 3.10)."""

import re
import sys
from pathlib import Path

text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
section = text.split("[dependency-groups]")[1].split("\n[")[0]
body = re.search(rf"^{re.escape(sys.argv[1])} = \[(.*?)^\]", section, re.DOTALL | re.MULTILINE)
if body is None:
    sys.exit(f"pyproject.toml has no dependency group {sys.argv[1]}")
print("\n".join(re.findall(r'^\s*"([^"]+)"', body[1], re.MULTILINE)))
