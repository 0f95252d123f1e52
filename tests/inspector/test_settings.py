"""The settings as a whole, each case in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
KEPT = {"PATH", "HOME", "LANG"}
PRODUCTION = {
    "TWENTYFOLD_AUTH": "required",
    "DATABASE_URL": "postgres://twentyfold:p%40ss@db.example.com:5432/twentyfold",
    "CELERY_BROKER_URL": "redis://broker.example.com:6379/0",
    "ALLOWED_HOSTS": "evals.example.com",
    "CSRF_TRUSTED_ORIGINS": "https://evals.example.com",
    "TWENTYFOLD_HTTPS": "1",
    # What is free on the machine of the tests is no matter of the settings.
    "TWENTYFOLD_UPLOAD_LIMIT": "1 MB",
}
COOKIE = ("SECURE", "HTTPONLY", "SAMESITE")


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=kept | {"TWENTYFOLD_DATA_DIR": str(folder)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def shown(folder: Path, expression: str, **variables: str) -> object:
    code = f"import json; from inspector import settings; print(json.dumps({expression}, default=str))"
    done = python(folder, "-c", code, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_documented_production_settings_pass_the_check_for_deployment(tmp_path: Path) -> None:
    done = python(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (0 silenced).\n"), done.stderr


def test_the_documentation_shows_those_production_settings() -> None:
    text = (PROJECT / "docs" / "operating.md").read_text(encoding="utf-8")
    exported = {line.split()[1].split("=")[0] for line in text.splitlines() if line.strip().startswith("export ")}
    assert exported == {*PRODUCTION, "TWENTYFOLD_DATA_DIR"} - {"TWENTYFOLD_UPLOAD_LIMIT"}


def test_with_nothing_set_everything_is_in_the_data_folder(tmp_path: Path) -> None:
    values = (
        "[settings.DATABASES['default']['NAME'], settings.CELERY_BROKER_URL, settings.DEBUG, settings.ALLOWED_HOSTS]"
    )
    assert shown(tmp_path, values) == [
        str(tmp_path / "twentyfold.sqlite3"),
        None,
        False,
        ["localhost", "127.0.0.1", "[::1]"],
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "secret_key", "tmp", "uploads"]


@pytest.mark.parametrize(("auth", "expected"), [("", False), ("off", False), ("required", True)])
def test_a_session_and_a_login_exist_in_server_mode_only(tmp_path: Path, auth: str, expected: bool) -> None:
    values = "[m in settings.MIDDLEWARE for m in settings.LOGIN_MIDDLEWARE], settings.AUTH_REQUIRED"
    assert shown(tmp_path, f"[{values}]", TWENTYFOLD_AUTH=auth) == [[expected] * 4, expected]


@pytest.mark.parametrize("https", ["0", "1"])
def test_cookies_are_out_of_reach_and_encrypted_under_https(tmp_path: Path, https: str) -> None:
    values = ", ".join(f"settings.{cookie}_COOKIE_{part}" for cookie in ("SESSION", "CSRF") for part in COOKIE)
    shown_values = shown(tmp_path, f"[{values}]", TWENTYFOLD_HTTPS=https)
    assert shown_values == [https == "1", True, "Lax"] * 2


def test_temporary_files_lie_in_the_data_folder(tmp_path: Path) -> None:
    value = "[settings.FILE_UPLOAD_TEMP_DIR, __import__('tempfile').gettempdir()]"
    assert shown(tmp_path, value) == [str(tmp_path / "tmp")] * 2


def test_sqlite_takes_readers_and_a_writer_at_once(tmp_path: Path) -> None:
    code = (
        "import django; django.setup(); from django.db import connection as c; k = c.cursor(); "
        "print([k.execute(f'PRAGMA {n}').fetchone()[0] for n in "
        "('journal_mode', 'synchronous', 'cache_size', 'temp_store', 'busy_timeout')], "
        "c.transaction_mode, c.settings_dict['CONN_MAX_AGE'])"
    )
    done = python(tmp_path, "-c", code, DJANGO_SETTINGS_MODULE="inspector.settings")
    assert (done.stdout, done.stderr) == ("['wal', 1, -32000, 2, 20000] IMMEDIATE None\n", "")


def test_another_database_keeps_its_options(tmp_path: Path) -> None:
    url = "postgres://u:p@h/d?sslmode=require"
    assert shown(tmp_path, "settings.DATABASES['default']", DATABASE_URL=url) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "d",
        "USER": "u",
        "PASSWORD": "p",
        "HOST": "h",
        "PORT": "",
        "OPTIONS": {"sslmode": "require"},
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
    }


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"DEBUG": "perhaps"}, "DEBUG is 'perhaps'. It must be one of"),
        ({"TWENTYFOLD_UPLOAD_LIMIT": "big"}, "TWENTYFOLD_UPLOAD_LIMIT is 'big'. It must be a size"),
        ({"TWENTYFOLD_WORKERS": "0"}, "TWENTYFOLD_WORKERS is 0. It must be at least 1."),
        ({"DATABASE_URL": "mysql://u@h/d"}, "DATABASE_URL begins with 'mysql'."),
        ({"TWENTYFOLD_AUTH": "yes"}, "TWENTYFOLD_AUTH is 'yes'. It must be off or required."),
        ({"ALLOWED_HOSTS": "localhost,evals.example.com"}, "names evals.example.com, and nobody has to log in"),
        ({"ALLOWED_HOSTS": "*"}, "names *, and nobody has to log in"),
        ({"ALLOWED_HOSTS": "0.0.0.0", "TWENTYFOLD_AUTH": "off"}, "names 0.0.0.0, and nobody has to log in"),
    ],
)
def test_a_bad_setting_stops_every_command_with_a_sentence(
    tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    done = python(tmp_path, "manage.py", "check", **variables)
    assert (done.returncode != 0, sentence in done.stderr) == (True, True), done.stderr
    assert "Traceback" not in done.stderr
