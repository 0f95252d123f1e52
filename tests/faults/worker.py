"""A worker that looks every two seconds for what waits: `python -m tests.faults.worker`.

How long a lost message is waited for is not asked here, only that nothing is lost by it.
"""

from __future__ import annotations

import sys

from celery.__main__ import main

from inspector import celery

if __name__ == "__main__":
    celery.SWEEP_SECONDS = 2.0
    sys.argv = ["celery", "-A", "inspector", "worker", "-P", "solo", "--loglevel", "ERROR"]
    sys.exit(main())
