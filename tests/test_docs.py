"""The documentation says what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
OPERATING = (PROJECT / "docs" / "operating.md").read_text(encoding="utf-8")
READERS = {"env_str", "env_bool", "env_int", "env_size", "env_list", "env_path", "env_secret", "env_database"}


def documented_settings() -> set[str]:
    """The first column of the table of settings."""
    table = OPERATING.split("| variable | default | meaning |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([A-Z_]+)` \|", table, re.MULTILINE))


def read_settings() -> set[str]:
    names: set[str] = {"SECRET_KEY"}  # read by inspector.env.secret_key
    tree = ast.parse((PROJECT / "inspector" / "settings.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
            name = node.args[0]
            assert isinstance(name, ast.Constant)
            assert isinstance(name.value, str)
            names.add(name.value)
    return names


def test_every_setting_is_in_the_table_and_nothing_else() -> None:
    assert documented_settings() == read_settings()


def test_only_the_settings_read_the_environment() -> None:
    """A variable read elsewhere would be missing in the table."""
    readers = sorted(
        str(path.relative_to(PROJECT))
        for folder in ("runs", "inspector")
        for path in (PROJECT / folder).rglob("*.py")
        if re.search(r"os\.(environ(\.get|\[)|getenv)", path.read_text(encoding="utf-8"))
    )
    # The command `up` looks whether there is a desktop, and hands its environment on.
    assert readers == ["inspector/env.py", "inspector/management/commands/up.py", "inspector/supervisor/run.py"]


def test_the_options_of_up_are_documented() -> None:
    source = (PROJECT / "inspector" / "management" / "commands" / "up.py").read_text(encoding="utf-8")
    options = set(re.findall(r'add_argument\(\s*"(--[a-z-]+)"', source))
    assert options == set(re.findall(r"^\| `(--[a-z-]+)` \|", OPERATING, re.MULTILINE))
