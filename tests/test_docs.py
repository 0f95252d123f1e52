"""The documentation says what is there."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from runs.bundles import READERS

PROJECT = Path(__file__).resolve().parent.parent
OPERATING = (PROJECT / "docs" / "operating.md").read_text(encoding="utf-8")
ENV_READERS = {
    *("env_str", "env_bool", "env_choice", "env_int", "env_size", "env_list", "env_hosts", "env_path"),
    *("env_secret", "env_database"),
}
DOCUMENTS = [
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((PROJECT / "docs").glob("*.md")),
]
TWO_COMMANDS = ["pip install uv && uv run manage.py up", "uv run pytest"]


def documented_settings() -> set[str]:
    """The first column of the table of settings."""
    table = OPERATING.split("| variable | default | meaning |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([A-Z_]+)` \|", table, re.MULTILINE))


def read_settings() -> set[str]:
    names: set[str] = {"SECRET_KEY"}  # read by inspector.env.secret_key
    tree = ast.parse((PROJECT / "inspector" / "settings.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ENV_READERS:
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


def commands() -> set[str]:
    """The management commands of this project."""
    return {
        path.stem
        for app in ("runs", "inspector")
        for path in (PROJECT / app / "management" / "commands").glob("*.py")
        if path.stem != "__init__"
    }


def named_commands(text: str) -> set[str]:
    return set(re.findall(r"manage\.py ([a-z_]+)", text))


def test_every_command_is_documented_and_every_documented_one_is_there() -> None:
    named = set().union(*(named_commands(path.read_text(encoding="utf-8")) for path in DOCUMENTS))
    assert named - {"check", "migrate"} == commands()


def test_the_options_of_ingest_are_documented() -> None:
    source = (PROJECT / "runs" / "management" / "commands" / "ingest.py").read_text(encoding="utf-8")
    usage = next(
        line
        for line in (PROJECT / "docs" / "bundles.md").read_text(encoding="utf-8").split("\n")
        if line.startswith("    uv run manage.py ingest")
    )
    assert set(re.findall(r'add_argument\(\s*"(--[a-z-]+)"', source)) == set(re.findall(r"--[a-z-]+", usage))


def test_the_readme_has_the_two_commands_as_they_are_typed() -> None:
    lines = (PROJECT / "README.md").read_text(encoding="utf-8").split("\n")
    typed = [line.strip() for line in lines if line.startswith("    ")]
    assert [line for line in typed if line in TWO_COMMANDS] == TWO_COMMANDS


def anchors(text: str) -> set[str]:
    """The addresses of the headings of a document, as the usual viewers make them."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def targets(document: Path) -> list[str]:
    text = document.read_text(encoding="utf-8")
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    return [target for target in found if not re.match(r"[a-z]+:", target)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    dead = []
    for target in targets(document):
        name, _, anchor = target.partition("#")
        path = document.parent / name if name else document
        if not path.exists() or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
            dead.append(target)
    assert dead == []


def test_every_document_is_linked_from_the_readme() -> None:
    linked = {(PROJECT / target).resolve() for target in targets(PROJECT / "README.md")}
    assert {document for document in DOCUMENTS if document.name != "README.md"} <= linked


def test_every_picture_is_shown_and_small_enough() -> None:
    shown = {
        (document.parent / target).resolve()
        for document in DOCUMENTS
        for target in targets(document)
        if "#" not in target
    }
    pictures = sorted((PROJECT / "docs" / "screenshots").glob("*.png"))
    assert [path.name for path in pictures] == ["run.png", "runs.png", "trace-dark.png", "trace.png", "uploads.png"]
    assert [path.name for path in pictures if path not in shown] == []
    assert [path.name for path in pictures if path.stat().st_size > 400_000] == []


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[\[<>=~!]", requirement)[0] for requirement in needed}
    text = (PROJECT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9, -]+) \|", text, re.MULTILINE)
    assert names - {name for row in rows for name in row.split(", ")} == set()


def test_every_reader_is_documented() -> None:
    text = (PROJECT / "docs" / "bundles.md").read_text(encoding="utf-8")
    assert [reader.name for reader in READERS if f"`{reader.name}`" not in text] == []
