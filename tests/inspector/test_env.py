"""Typed readers of environment variables."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from inspector import env

NAME = "TWENTYFOLD_TEST_VALUE"


@pytest.fixture(autouse=True)
def _no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.delenv(f"{NAME}_FILE", raising=False)
    monkeypatch.delenv("SECRET_KEY", raising=False)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (lambda: env.env_str(NAME, "d"), " text ", "text"),
        (lambda: env.env_bool(NAME, False), "Yes", True),
        (lambda: env.env_bool(NAME, True), "0", False),
        (lambda: env.env_int(NAME, 3), "12", 12),
        (lambda: env.env_size(NAME, "1 B"), "500", 500),
        (lambda: env.env_size(NAME, "1 B"), "32 MB", 32 * 1024**2),
        (lambda: env.env_size(NAME, "1 B"), "1.5gb", 3 * 1024**3 // 2),
        (lambda: env.env_list(NAME, "x"), " a, b ,,[::1]", ["a", "b", "[::1]"]),
        (lambda: env.env_choice(NAME, ("off", "required")), "Required", "required"),
        (lambda: env.env_hosts(NAME, "x", login=False), "LOCALHOST,[::1]", ["LOCALHOST", "[::1]"]),
        (lambda: env.env_hosts(NAME, "x", login=True), "a.example.com, *", ["a.example.com", "*"]),
        (lambda: env.env_path(NAME, Path("/d")), "/srv/data", Path("/srv/data")),
        (lambda: env.env_secret(NAME), "word", "word"),
    ],
)
def test_reads_a_value(monkeypatch: pytest.MonkeyPatch, read: Callable[[], Any], text: str, value: object) -> None:
    monkeypatch.setenv(NAME, text)
    assert read() == value


@pytest.mark.parametrize("text", [None, "", "  "])
def test_an_empty_variable_is_an_absent_one(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    if text is not None:
        monkeypatch.setenv(NAME, text)
    values = (
        env.env_str(NAME, "d"),
        env.env_bool(NAME, True),
        env.env_int(NAME, 3),
        env.env_size(NAME, "8 GB"),
        env.env_list(NAME, "a,b"),
        env.env_choice(NAME, ("off", "required")),
        env.env_hosts(NAME, "localhost", login=False),
        env.env_path(NAME, Path("/d")),
        env.env_secret(NAME),
    )
    assert values == ("d", True, 3, 8 * 1024**3, ["a", "b"], "off", ["localhost"], Path("/d"), None)


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (
            lambda: env.env_bool(NAME, False),
            "maybe",
            f"{NAME} is 'maybe'. It must be one of 1, true, yes, on, 0, false, no or off.",
        ),
        (lambda: env.env_int(NAME, 1), "many", f"{NAME} is 'many'. It must be a whole number."),
        (lambda: env.env_int(NAME, 1, at_least=1), "0", f"{NAME} is 0. It must be at least 1."),
        (
            lambda: env.env_size(NAME, "1 B"),
            "8 GiB/s",
            f"{NAME} is '8 GiB/s'. It must be a size such as 500000, 32 MB or 8 GB.",
        ),
        (lambda: env.env_size(NAME, "1 B"), "0", f"{NAME} is '0'. It must be at least one byte."),
    ],
)
def test_a_bad_value_fails_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], Any], text: str, sentence: str
) -> None:
    monkeypatch.setenv(NAME, text)
    with pytest.raises(ImproperlyConfigured) as error:
        read()
    assert str(error.value) == sentence


def test_a_secret_comes_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "word").write_text("hidden\n", encoding="utf-8")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "word"))
    assert env.env_secret(NAME) == "hidden"
    monkeypatch.setenv(NAME, "open")
    with pytest.raises(ImproperlyConfigured, match="are both set"):
        env.env_secret(NAME)


def test_a_secret_file_that_is_missing_or_empty_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "none"))
    with pytest.raises(ImproperlyConfigured, match="which cannot be read"):
        env.env_secret(NAME)
    (tmp_path / "none").touch()
    with pytest.raises(ImproperlyConfigured, match="which is empty"):
        env.env_secret(NAME)


POSTGRES = "django.db.backends.postgresql"


@pytest.mark.parametrize(
    ("url", "database"),
    [
        (
            "postgres://ada:s%2Fe%3Fc%23r%40e%3At@db.example.com:6432/evals?sslmode=require&connect_timeout=5",
            {
                "ENGINE": POSTGRES,
                "NAME": "evals",
                "USER": "ada",
                "PASSWORD": "s/e?c#r@e:t",
                "HOST": "db.example.com",
                "PORT": "6432",
                "OPTIONS": {"sslmode": "require", "connect_timeout": "5"},
            },
        ),
        (
            "postgresql://postgres@[::1]/a%20b",
            {
                "ENGINE": POSTGRES,
                "NAME": "a b",
                "USER": "postgres",
                "PASSWORD": "",
                "HOST": "::1",
                "PORT": "",
                "OPTIONS": {},
            },
        ),
        (
            "postgres://u:100%25@%2Fvar%2Frun%2Fpostgresql/evals",
            {
                "ENGINE": POSTGRES,
                "NAME": "evals",
                "USER": "u",
                "PASSWORD": "100%",
                "HOST": "/var/run/postgresql",
                "PORT": "",
                "OPTIONS": {},
            },
        ),
        ("sqlite:////srv/a%20b.sqlite3", {"ENGINE": "django.db.backends.sqlite3", "NAME": "/srv/a b.sqlite3"}),
        (
            "sqlite:///here.sqlite3",
            {"ENGINE": "django.db.backends.sqlite3", "NAME": str(Path("here.sqlite3").absolute())},
        ),
    ],
)
def test_a_database_address(url: str, database: dict[str, Any]) -> None:
    assert env.parse_database_url(url) == database


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://u:hidden@h/d", "begins with 'mysql'"),
        ("evals", "begins with 'no scheme'"),
        ("postgres://u:hidden@h", "names no database"),
        ("postgres://u:hid/den@h/d", "is not a valid address"),
        ("postgres://u:hidden@h:port/d", "is not a valid address"),
        ("postgres://u:hidden@[h/d", "is not a valid address"),
        ("sqlite://host/file", "must name a file"),
        ("sqlite:///", "must name a file"),
    ],
)
def test_a_bad_database_address_is_explained_without_its_password(url: str, sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=sentence) as error:
        env.parse_database_url(url)
    assert "hidden" not in str(error.value)


def test_the_database_is_a_file_in_the_data_folder_by_default() -> None:
    assert env.env_database(NAME, Path("/d/x.sqlite3")) == {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": "/d/x.sqlite3",
    }


def test_the_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    key = env.secret_key(tmp_path)
    assert (len(key) >= 50, env.secret_key(tmp_path)) == (True, key)
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_an_empty_key_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch()
    assert len(env.secret_key(tmp_path)) >= 50


def test_a_key_from_the_environment_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_KEY", "k" * 50)
    assert env.secret_key(tmp_path) == "k" * 50
    assert list(tmp_path.iterdir()) == []


def test_processes_that_start_together_share_one_key(tmp_path: Path) -> None:
    keys: list[str] = []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait()
        keys.append(env.secret_key(tmp_path))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(keys), len(set(keys))) == (8, 1)


def test_the_data_folder_is_its_owners(tmp_path: Path) -> None:
    folder = env.make_data_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match=f"{os.sep}file' cannot be made: .* Set TWENTYFOLD_DATA_DIR"):
        env.make_data_folder(tmp_path / "file")
