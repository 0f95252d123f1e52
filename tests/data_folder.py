"""A pytest plugin, loaded before Django's settings: tests never touch the data folder of the person who runs them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="twentyfold-tests-")
os.environ["TWENTYFOLD_DATA_DIR"] = _folder
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
