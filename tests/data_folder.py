"""A pytest plugin, loaded before Django's settings: tests never touch the data folder of the person who runs them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_folder = tempfile.mkdtemp(prefix="twentyfold-tests-")
os.environ["TWENTYFOLD_DATA_DIR"] = _folder
atexit.register(shutil.rmtree, _folder, ignore_errors=True)

# Tests start this program many times over. Where no bytecode may be written beside the sources, it goes to a folder
# that the first of the test processes makes and removes.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(_folder) / "bytecode")
