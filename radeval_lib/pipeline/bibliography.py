"""Labels of the book's bibliography: author and year, as the text cites its entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_lowercase
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.labels import BaseLabelStyle


class AuthorYear(BaseLabelStyle):
    """Labels of a bibliography as the text cites its entries: ``Doe et al., 2020``."""

    def format_labels(self, sorted_entries: Sequence[Any]) -> Iterator[str]:
        """Yield one label per entry, in their order; ``2023a`` and ``2023b`` where two would be the same."""
        labels = [self._label(entry) for entry in sorted_entries]
        for place, label in enumerate(labels):
            alike = labels.count(label) > 1
            yield label + (ascii_lowercase[labels[:place].count(label)] if alike else "")

    @staticmethod
    def _label(entry: Any) -> str:
        """Return authors and year."""
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = [" ".join(map(str, [*one.rich_prelast_names, *one.rich_last_names])) for one in people]
        names = names or [entry.key]
        several = len(names) > 2 or "others" in names  # as BibTeX calls those whom an entry does not name
        named = f"{names[0]} et al." if several else " and ".join(names)
        return f"{named}, {entry.fields.get('year', 'n.d.')}"


def register() -> None:
    """Register the style ``author_year``, which the book's settings name, with pybtex."""
    from pybtex.style.formatting.plain import Style

    style = type("AuthorYearStyle", (Style,), {"default_label_style": AuthorYear})
    register_plugin("pybtex.style.formatting", "author_year", style)
