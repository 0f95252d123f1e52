"""How a process begins that another one of ours has started to share its work. Imports no model: it sets Django up."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

import django

__all__ = ["begin"]


def begin() -> None:
    """It ends with the process that started it, however that ends, and leaves Ctrl+C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
    django.setup()
