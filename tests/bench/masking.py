"""How the time to look for secrets grows with a text: `uv run python -m tests.bench.masking`.

Each text is one piece over and over, made to send a careless pattern back and forth. Sixteen times as long may take
about sixteen times as long; a quadratic pattern would take 256 times as long.
"""

from __future__ import annotations

import sys
import time

from runs.masking import mask_bytes

PIECES = (
    "sk-", "token", 'password="', '\\"password\\":\\"', "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "://a",
    "eyJ.eyJ.", "a" * 50, "secret: ", "bearer ", "basic ", '"', "\\", '\\\\"', "api_key=abc12345&", "access_token",
    "gh", "AIza", "::::", "Result: ", "Path: a.password\n Result: ", '"password":["a1b2c3",', "--password a1b",
    "path result\" ", '"path":"a.password","result":',
)  # fmt: skip
SHORT = 20_000
TIMES = 16
MOST = 64
"""Times as long as the short text, at which a pattern is taken for one that goes back and forth."""


def seconds(text: bytes) -> float:
    times = []
    for _ in range(5):
        begun = time.process_time()
        mask_bytes(text)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> int:
    """0 when no text takes more than its share."""
    slow = []
    for piece in PIECES:
        short, long = ((piece * (size // len(piece))).encode() for size in (SHORT, SHORT * TIMES))
        first, second = seconds(short), seconds(long)
        print(f"{piece[:30]!r:36} {first * 1e3:8.2f} ms {second * 1e3:8.2f} ms {second / first:6.1f} x")
        if second > MOST * first:
            slow.append(piece)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
