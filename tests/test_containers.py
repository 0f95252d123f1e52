"""The container files, as far as they can be judged without an engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_docs import documented_settings

PROJECT = Path(__file__).resolve().parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()


def instructions(name: str) -> list[str]:
    return [line.removeprefix(name).strip() for line in DOCKERFILE if line.startswith(f"{name} ")]


def test_the_services() -> None:
    assert sorted(SERVICES) == ["broker", "db", "migrate", "web", "worker"]


def test_only_the_web_server_is_published_and_only_on_this_machine() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {"web": ["127.0.0.1:${TWENTYFOLD_PORT:-8000}:8000"]}
    assert [name for name, service in SERVICES.items() if "network_mode" in service] == []


@pytest.mark.parametrize("name", ["migrate", "web", "worker"])
def test_the_application_has_few_rights(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"], service["security_opt"]) == (
        True,
        ["ALL"],
        ["no-new-privileges:true"],
    )
    assert (service.get("user"), service.get("privileged")) == (None, None)
    assert service["volumes"] == ["data:/data"]


def test_every_variable_is_a_documented_setting() -> None:
    for name in ("migrate", "web", "worker"):
        assert set(SERVICES[name]["environment"]) - documented_settings() == set()


def test_no_secret_has_a_default() -> None:
    text = (PROJECT / "compose.yaml").read_text(encoding="utf-8")
    passwords = re.findall(r"\$\{TWENTYFOLD_DB_PASSWORD(..)", text)
    assert passwords == [":?", ":?"]


def test_what_runs_is_checked_for_its_health() -> None:
    assert {name for name, service in SERVICES.items() if service.get("healthcheck", {}).get("test")} == {
        "db",
        "broker",
    }
    assert "/healthz" in instructions("HEALTHCHECK")[0]
    # The web server keeps the image's own check; the two others listen nowhere.
    disabled = {name for name, service in SERVICES.items() if service.get("healthcheck", {}).get("disable")}
    assert disabled == {"migrate", "worker"}
    assert SERVICES["web"]["depends_on"] == {
        "migrate": {"condition": "service_completed_successfully"},
        "broker": {"condition": "service_healthy"},
    }


def test_data_outlives_the_containers() -> None:
    assert set(COMPOSE["volumes"]) == {"data", "db"}
    assert SERVICES["db"]["volumes"] == ["db:/var/lib/postgresql/data"]


def test_the_image_runs_as_an_ordinary_user_of_its_own() -> None:
    assert instructions("USER") == ["twentyfold"]
    assert DOCKERFILE.index("USER twentyfold") < next(
        number for number, line in enumerate(DOCKERFILE) if line.startswith("CMD ")
    )
    assert any("useradd --uid 10001" in line for line in DOCKERFILE)


def test_the_image_holds_only_what_exists_here() -> None:
    copied = [word for line in instructions("COPY") for word in line.split()[:-1]]
    assert [name for name in copied if not (PROJECT / name).exists()] == []


def test_the_commands_name_modules_that_exist() -> None:
    commands = [str(service.get("command", "")) for service in SERVICES.values()] + instructions("CMD")
    assert any("inspector.asgi:application" in command for command in commands)
    assert (PROJECT / "inspector" / "asgi.py").exists()
    assert (PROJECT / "inspector" / "celery.py").exists()
