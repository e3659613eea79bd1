"""Figures for a light and a dark page: one drawing, whose greys follow the ground it stands on."""

from __future__ import annotations

import re

_GREY = re.compile(r"(fill|stroke): #([0-9a-f]{2})\2\2\b")
_DARK_GROUND = "#121212"  # the page of sphinx-book-theme
_ON_CELLS = ("262626", "ffffff")  # what seaborn writes on the cells of a heat map, whose colours stay


def for_both_grounds(svg: str) -> str:
    """An SVG drawing that turns its greys round where its page is dark; colours stay as they are.

    A picture in a page asks for the colour scheme of its place there (CSS Color Adjustment 1, section 2.2),
    so that one file serves both.
    """
    rules = []
    for paint, level in sorted(set(_GREY.findall(svg))):
        value, grey = int(level, 16), level * 3
        lightness = f"{round(0xF0 - value * (0xF0 - 0x18) / 255):02x}" * 3
        dark = _DARK_GROUND if grey == "ffffff" else f"#{lightness}"
        kept = ":not(text)" if paint == "fill" and grey in _ON_CELLS else ""
        rules.append(f'[style*="{paint}: #{grey}"]{kept}{{{paint}:{dark}!important}}')
    if not rules:
        return svg
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    return re.sub(r"<svg\b[^>]*>", lambda head: head.group() + style, svg, count=1)
