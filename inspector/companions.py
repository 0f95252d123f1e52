"""Files that came together: which run metadata belongs to which result file, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from runs.bundles.run_metadata import COMPANION_END, companion_name

__all__ = ["COMPANION_END", "matched_files"]


def matched_files(names: Sequence[str]) -> tuple[list[tuple[int, int | None]], list[int]]:
    """(result file, its companion or None) for each result file, and the companions without one: places in `names`."""
    companions = {name: at for at, name in enumerate(names) if name.endswith(COMPANION_END)}
    matched: list[tuple[int, int | None]] = [
        (at, companions.get(companion_name(name))) for at, name in enumerate(names) if name not in companions
    ]
    used = {companion for _, companion in matched}
    return matched, [at for at in companions.values() if at not in used]
