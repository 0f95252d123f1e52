"""Settings of the site, from the environment only. docs/operating.md lists every variable read here."""

from __future__ import annotations

import os
import tempfile
from logging import LogRecord
from pathlib import Path
from typing import Any

import platformdirs

from inspector.env import (
    env_bool,
    env_choice,
    env_database,
    env_hosts,
    env_int,
    env_list,
    env_path,
    env_secret,
    env_size,
    env_str,
    make_data_folder,
    secret_key,
)

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Data folder ------------------------------------------------------------------------------------------------------

DATA_DIR = make_data_folder(env_path("TWENTYFOLD_DATA_DIR", platformdirs.user_data_path("twentyfold", appauthor=False)))
UPLOADS_DIR = DATA_DIR / "uploads"
TEMP_DIR = DATA_DIR / "tmp"
LOGS_DIR = DATA_DIR / "logs"
BROKER_DIR = DATA_DIR / "broker"
for _folder in (UPLOADS_DIR, TEMP_DIR, LOGS_DIR):
    _folder.mkdir(mode=0o700, exist_ok=True)

# Django spools a request's body before it looks at FILE_UPLOAD_TEMP_DIR, so the default place has to move as well:
# a large upload must not fill a small system-wide folder, and moving a finished file must stay a rename.
FILE_UPLOAD_TEMP_DIR = str(TEMP_DIR)
tempfile.tempdir = str(TEMP_DIR)

# --- Limits and behaviour ---------------------------------------------------------------------------------------------

UPLOAD_LIMIT = env_size("TWENTYFOLD_UPLOAD_LIMIT", "8 GB")
MAX_LINE = env_size("TWENTYFOLD_MAX_LINE", "32 MB")
# What one archive, or one compressed file, may become: beyond these it is taken for an attack.
MAX_MEMBERS = env_int("TWENTYFOLD_MAX_MEMBERS", 20_000, at_least=1)
MAX_UNPACKED = env_size("TWENTYFOLD_MAX_UNPACKED", "64 GB")
MAX_RATIO = env_int("TWENTYFOLD_MAX_RATIO", 2_000, at_least=1)
# A folder into which result files are put; `up` follows it. None where the setting is not set.
INBOX = env_str("TWENTYFOLD_INBOX")
# What comes in can be written back from the store, so the uploaded file itself need not stay.
KEEP_UPLOADS = env_bool("TWENTYFOLD_KEEP_UPLOADS", False)
# Secrets (keys, tokens, passwords) are masked before rows are stored; else only wherever they are shown.
MASK_AT_INGEST = env_bool("TWENTYFOLD_MASK_AT_INGEST", False)
# Seconds until a chunk whose worker went silent is given to another: at least five times the slowest chunk.
LEASE_SECONDS = env_int("TWENTYFOLD_LEASE", 90, at_least=1)
# Days after which a run is deleted that says no day itself. None: runs stay.
RETENTION_DAYS = env_int("TWENTYFOLD_RETENTION_DAYS", 0) or None
# Requests a minute that a token, or an address without one, may send to the API. 0: as many as it likes.
API_RATE = env_int("TWENTYFOLD_API_RATE", 600)
WORKERS = env_int("TWENTYFOLD_WORKERS", os.cpu_count() or 1, at_least=1)

# --- Security ---------------------------------------------------------------------------------------------------------

DEBUG = env_bool("DEBUG", False)
SECRET_KEY = secret_key(DATA_DIR)
# Server mode: everything but shared leaderboards asks for an account. Without it nothing but this machine is answered.
AUTH_REQUIRED = env_choice("TWENTYFOLD_AUTH", ("off", "required")) == "required"
ALLOWED_HOSTS = env_hosts("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", login=AUTH_REQUIRED)
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
CSRF_COOKIE_NAME = "twentyfold_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "inspector.views.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"

HTTPS = env_bool("TWENTYFOLD_HTTPS", False)
SECURE_SSL_REDIRECT = HTTPS
# The health check of the container asks over plain HTTP, from inside.
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and env_bool("TWENTYFOLD_HSTS_SUBDOMAINS", True)
SECURE_HSTS_PRELOAD = SECURE_HSTS_INCLUDE_SUBDOMAINS
CSRF_COOKIE_SECURE = HTTPS

# --- Accounts (server mode) -------------------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
SESSION_COOKIE_NAME = "twentyfold_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS

# --- Applications and middleware --------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "runs",
    "inspector",
    "django_htmx",
    "django.contrib.staticfiles",
    # Their tables are there in both modes, so that turning the login on needs no other database.
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
]
MIDDLEWARE = [
    "inspector.middleware.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "inspector.middleware.StaticFiles",
    "inspector.api.middleware.api_problems",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
LOGIN_MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "inspector.wall.LoginWall",
    "inspector.gate.Gate",
]
if AUTH_REQUIRED:
    MIDDLEWARE += LOGIN_MIDDLEWARE
ROOT_URLCONF = "inspector.urls"
ASGI_APPLICATION = "inspector.asgi.application"
APPEND_SLASH = True

# --- Templates --------------------------------------------------------------------------------------------------------

_loaders: list[Any] = ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"]
if not DEBUG:
    _loaders = [("django.template.loaders.cached.Loader", _loaders)]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            # By hand: as an installed application template_partials imports the whole of Django's admin.
            "loaders": [("template_partials.loader.Loader", _loaders)],
            "builtins": ["template_partials.templatetags.partials"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csrf",
                "inspector.access.in_templates",
            ],
        },
    }
]

# --- Database ---------------------------------------------------------------------------------------------------------

_database: dict[str, Any] = env_database("DATABASE_URL", DATA_DIR / "twentyfold.sqlite3")
# Opening a connection costs more than a page's queries: each of the server's threads keeps its own.
_database["CONN_MAX_AGE"] = None
if _database["ENGINE"].endswith("sqlite3"):
    _database["OPTIONS"] = {
        # A transaction that reads before it writes would otherwise fail at once when another writer was quicker.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000; "
            "PRAGMA mmap_size=268435456; PRAGMA temp_store=MEMORY;"
        ),
    }
else:
    _database["CONN_HEALTH_CHECKS"] = True
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Background work --------------------------------------------------------------------------------------------------

# None: the embedded broker, a folder of message files in the data folder (inspector/transport.py).
CELERY_BROKER_URL = env_secret("CELERY_BROKER_URL")

# --- Uploads ----------------------------------------------------------------------------------------------------------

# A file always goes to the disk, so that receiving one never depends on its size.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_NUMBER_FILES = 100

# --- Static files -----------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "inspector.staticfiles.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "inspector.staticfiles.VersionedStaticFiles"},
}
# Files are found where they lie, so nothing has to be collected before a start.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False

# --- Language and time ------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# --- Logging ----------------------------------------------------------------------------------------------------------


def _in_a_line(record: LogRecord) -> bool:
    """What was refused is told in a line: its traceback says no more, and anybody could fill the disk with them."""
    if 400 <= getattr(record, "status_code", 500) < 500:
        record.exc_info = None
    return True


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"in_a_line": {"()": "django.utils.log.CallbackFilter", "callback": _in_a_line}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["in_a_line"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": ["console"], "level": "INFO", "propagate": False},
        # One line a message received and done would be all there is to read.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        # Likewise a line for each message of an agent.
        "mcp": {"level": "WARNING"},
    },
}
