"""Pages as a reader has them: elements with their texts. So a test compares what is shown, not how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.test import Client

__all__ = ["Element", "page_of", "rows_of", "stats_of"]

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    parts: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it, one blank between words."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            else:
                yield from part._texts()
                # Elements that begin a line of their own part words.
                if part.tag in {"div", "p", "dt", "dd", "td", "th", "li", "br"} or "blk" in part.classes:
                    yield " "

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(self.attributes.get("class", "").split())

    def all(self, tag: str = "", of: str = "", **attributes: str) -> list[Element]:
        """Those within it, in order: of a tag, of a class, with these attributes."""
        found = []
        for part in self.parts:
            if isinstance(part, Element):
                fits = (not tag or part.tag == tag) and (not of or of in part.classes)
                if fits and all(part.attributes.get(name) == value for name, value in attributes.items()):
                    found.append(part)
                found += part.all(tag, of, **attributes)
        return found

    def one(self, tag: str = "", of: str = "", **attributes: str) -> Element:
        """The first of them. Fails where there is none."""
        found = self.all(tag, of, **attributes)
        assert found, f"There is no {tag or 'element'} {of} {attributes}."
        return found[0]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].parts.append(made)
        if tag not in _VOID:
            self._open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].parts.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        assert self._open[-1].tag == tag, f"</{tag}> ends <{self._open[-1].tag}>."
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].parts.append(data)


def page_of(client: Client, address: str) -> Element:
    answer = client.get(address)
    assert answer.status_code == 200, address
    reader = _Reader()
    reader.feed(answer.content.decode())
    return reader.root


def rows_of(table: Element) -> list[dict[str, str]]:
    """The rows of a table's bodies: head of the column → text of the cell."""
    heads = [head.text for head in table.one("thead").all("th")]
    rows = []
    for body in table.all("tbody"):
        for row in body.all("tr"):
            cells = [part.text for part in row.parts if isinstance(part, Element)]
            assert len(cells) == len(heads), (heads, cells)
            rows.append(dict(zip(heads, cells, strict=True)))
    return rows


def stats_of(page: Element) -> dict[str, list[str]]:
    """The big numbers of a page: title → what stands below it, line by line."""
    return {
        stat.one("dt").text: [line.text for line in stat.one("dd").parts if isinstance(line, Element) and line.text]
        for stat in page.all(of="stat")
    }
