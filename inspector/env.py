"""Typed readers of environment variables. A bad value fails at once, with a sentence that names the variable.

An empty variable counts as absent, so that `NAME=` in a compose file means the default.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(|B|KB|MB|GB|TB)", re.IGNORECASE)
SIZE_UNITS = {"": 1, "B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}


def env_str(name: str, default: str = "") -> str:
    """The variable's text without surrounding blanks."""
    return os.environ.get(name, "").strip() or default


def env_secret(name: str) -> str | None:
    """The variable's text, else the content of the file that `NAME_FILE` names, else None."""
    path = env_str(f"{name}_FILE")
    if value := env_str(name):
        if path:
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Set only one of them.")
        return value
    if not path:
        return None
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{name}_FILE names {path!r}, which cannot be read: {error}.") from error
    if not value:
        raise ImproperlyConfigured(f"{name}_FILE names {path!r}, which is empty.")
    return value


def env_bool(name: str, default: bool) -> bool:
    text = env_str(name)
    if not text:
        return default
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}. It must be one of 1, true, yes, on, 0, false, no or off.")


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """One of the words, in small letters; the first of them when the variable is absent."""
    text = env_str(name, choices[0]).lower()
    if text not in choices:
        raise ImproperlyConfigured(f"{name} is {text!r}. It must be {' or '.join(choices)}.")
    return text


def env_hosts(name: str, default: str, *, login: bool) -> list[str]:
    """Host names of a site. Without a login only those under which this machine alone reaches it."""
    hosts = env_list(name, default)
    open_to_others = [host for host in hosts if host.lower() not in LOOPBACK_NAMES]
    if open_to_others and not login:
        raise ImproperlyConfigured(
            f"{name} names {', '.join(open_to_others)}, and nobody has to log in: everybody who reaches this server "
            "could read and delete everything. Set TWENTYFOLD_AUTH=required and make an account with `manage.py "
            "createowner`, or leave only localhost, 127.0.0.1 and [::1]."
        )
    return hosts


def env_int(name: str, default: int, *, at_least: int = 0) -> int:
    text = env_str(name)
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {text!r}. It must be a whole number.") from None
    if value < at_least:
        raise ImproperlyConfigured(f"{name} is {value}. It must be at least {at_least}.")
    return value


def env_size(name: str, default: str) -> int:
    """A number of bytes, written as `500`, `32 MB` or `1.5GB`. A unit is a power of 1,024."""
    text = env_str(name, default)
    match = SIZE.fullmatch(text)
    if match is None:
        raise ImproperlyConfigured(f"{name} is {text!r}. It must be a size such as 500000, 32 MB or 8 GB.")
    size = int(float(match[1]) * SIZE_UNITS[match[2].upper()])
    if size < 1:
        raise ImproperlyConfigured(f"{name} is {text!r}. It must be at least one byte.")
    return size


def env_list(name: str, default: str = "") -> list[str]:
    """The parts between commas, without blanks around them and without empty ones."""
    return [part.strip() for part in env_str(name, default).split(",") if part.strip()]


def env_path(name: str, default: Path) -> Path:
    """An absolute path; `~` is the home folder."""
    text = env_str(name)
    return Path(text).expanduser().absolute() if text else default


def env_database(name: str, sqlite_default: Path) -> dict[str, Any]:
    """ENGINE, NAME and the rest for Django's DATABASES. As it may hold a password, `NAME_FILE` works too."""
    url = env_secret(name)
    return (
        parse_database_url(url, name) if url else {"ENGINE": "django.db.backends.sqlite3", "NAME": str(sqlite_default)}
    )


def parse_database_url(url: str, name: str = "DATABASE_URL") -> dict[str, Any]:
    """`postgres://user:password@host:5432/database?sslmode=require` or `sqlite:////absolute/path`.

    User, password and database name are percent-decoded. Errors never repeat the address: it holds a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} is not a valid address. Percent-encode the signs / ? # @ : [ ] in the user and the password."
        ) from None
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.strip("/"):
            raise ImproperlyConfigured(f"{name} must name a file: sqlite:////absolute/path or sqlite:///relative/path.")
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(Path(unquote(parts.path[1:])).absolute())}
    if parts.scheme not in {"postgres", "postgresql"}:
        known = "postgres://, postgresql:// or sqlite://"
        raise ImproperlyConfigured(f"{name} begins with {parts.scheme or 'no scheme'!r}. It must begin with {known}.")
    database = unquote(parts.path.removeprefix("/"))
    if not database:
        raise ImproperlyConfigured(f"{name} names no database: postgres://user:password@host:5432/database.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "OPTIONS": dict(parse_qsl(parts.query)),
    }


def secret_key(data_dir: Path) -> str:
    """SECRET_KEY or SECRET_KEY_FILE, else a key made once and kept in the data folder, for its owner's eyes only."""
    if key := env_secret("SECRET_KEY"):
        return key
    path = data_dir / "secret_key"
    try:
        if key := path.read_text(encoding="ascii").strip():
            return key
        path.unlink()
    except FileNotFoundError:
        pass
    # Written aside and linked into place: of two processes that start together, both read the same whole key.
    fresh = data_dir / f"secret_key.{os.getpid()}.{secrets.token_hex(4)}"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(64))
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()


def make_data_folder(path: Path) -> Path:
    """The folder, made if it is not there. Traces and states are the evaluator's: only the owner may look in."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {str(path)!r} cannot be made: {error.strerror}. "
            "Set TWENTYFOLD_DATA_DIR to a folder that can be written."
        ) from error
    return path
