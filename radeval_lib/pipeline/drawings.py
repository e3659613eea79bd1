"""Drawings (SVG, by matplotlib) as pages show them: their text set, and colours for light and dark ground."""

from __future__ import annotations

import colorsys
import re
from html import unescape
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.textpath import text_to_path
from seaborn.utils import relative_luminance

from radeval_lib.pipeline.typesetting import TAU, characters, outside_tags

_LINE = re.compile(
    r'<text style="(?P<style>(?:font-[a-z]+: \w+; )*font-size: (?P<size>[\d.]+)px;[^"]*)" '
    r'transform="translate\((?P<x>[-\d.]+) (?P<y>[-\d.]+)\)">(?P<text>[^<]*)</text>'
)
_LINES = re.compile(  # a text may have a box
    r'<g id="text_\d+">\s*(?:<g id="patch_\d+">\s*<path[^>]*/>\s*</g>\s*)?'
    r'(?:<text [^>]*"translate\([^)]*\)">[^<]*</text>\s*){2,}</g>'
)
_FAMILY = re.compile("'([^']+)'")
_ANCHORS = {0.0: "start", 0.5: "middle", 1.0: "end"}
"""By the share of a line's width that lies left of where it meets the others."""
_PAINT = re.compile(r"(fill|stroke): #([0-9a-f]{6})\b")
_OPACITY = re.compile(r"\b((?:fill-|stroke-)?opacity): (0\.\d+)")  # fill-opacity: 0.5
_CELLS = re.compile(r'<g id="QuadMesh_\d+">.*?</g>', re.DOTALL)  # a heat map's cells
_WHOLE = (("^=", "", ";"), ("*=", "; ", ";"), ("$=", "; ", ""))  # a declaration in a style, and its ends
_DARK_GROUND = "121212"  # the page of sphinx-book-theme
_LEAST_CONTRAST = 6  # of a colour with it: Okabe and Ito's blue has 3.6


def for_pages(svg: str) -> str:
    """Return an SVG drawing with its text set, for both grounds."""
    return for_both_grounds(with_text_set(svg))


def with_text_set(svg: str) -> str:
    """Return an SVG drawing with its text set; what follows a subscript is raised to the line again, and the
    lines of a text keep to their common edge or middle."""
    svg = _LINES.sub(lambda lines: _anchored(lines[0]), svg)
    lowered = r'τ<tspan font-size="75%" dy="0.24em">b</tspan><tspan dy="-0.18em">\1</tspan>'
    return outside_tags(svg, lambda text: re.sub(rf"{TAU}([^<]*)", lowered, characters(text)))


def _anchored(lines: str) -> str:
    """Return the lines of a text, placed by matplotlib by the widths that they have in its font, anchored
    where they meet: a browser may draw them in another font."""
    placed = [(float(one["x"]), _width(one)) for one in _LINE.finditer(lines)]
    meets = {share: [x + share * width for x, width in placed] for share in _ANCHORS}
    share = min(meets, key=lambda one: max(meets[one]) - min(meets[one]))
    anchor, place = _ANCHORS[share], iter(meets[share])
    return _LINE.sub(
        lambda one: (
            f'<text style="text-anchor: {anchor}; {one["style"]}" '
            f'transform="translate({next(place):.6f} {one["y"]})">{one["text"]}</text>'
        ),
        lines,
    )


def _width(line: re.Match[str]) -> float:
    """Return the width of a line of text in the font that matplotlib took, in the units of the drawing."""
    css: dict[str, Any] = dict(part.split(": ", 1) for part in line["style"].split("; "))
    named = [name for name in _FAMILY.findall(css["font-family"]) if name in fontManager.get_font_names()]
    font = FontProperties(
        family=named or ["DejaVu Sans"],
        size=float(line["size"]),
        weight=int(css.get("font-weight", 400)),
        style=css.get("font-style", "normal"),
    )
    width, _, _ = text_to_path.get_text_width_height_descent(unescape(line["text"]), font, ismath=False)
    return float(width)


def for_both_grounds(svg: str) -> str:
    """Return an SVG drawing that also suits a dark page, where greys turn round, colours that would sink into
    it get lighter, what is half transparent shows more, and cells of heat maps run from dark to light.

    A picture in a page asks for the colour scheme of its place there (CSS Color Adjustment 1, section 2.2),
    so that one file serves both.
    """
    rules = []
    in_cells = "".join(_CELLS.findall(svg))
    cells = {colour for paint, colour in _PAINT.findall(in_cells) if paint == "fill"}
    for paint, colour in sorted(set(_PAINT.findall(svg))):
        if (dark := _on_dark(colour)) != colour:
            rules.append(f'[style*="{paint}: #{colour}"]{{{paint}:#{dark}!important}}')
        if (paint, colour) == ("fill", "ffffff"):  # white text stands on what gets lighter
            rules.append('text[style*="fill: #ffffff"]{fill:#000!important}')
    for name, share in sorted(set(_OPACITY.findall(svg))):
        chosen = ",".join(f'[style{at}"{before}{name}: {share}{after}"]' for at, before, after in _WHOLE)
        rules.append(f"{chosen}{{{name}:{float(share) ** 0.5:.2f}!important}}")
    for colour in sorted(cells):
        rules.append(f'[id^=QuadMesh] [style*="fill: #{colour}"]{{fill:#{_turned(colour)}!important}}')
    if cells:
        rules.append('text:not([style*="fill:"]){fill:#fff}')
    if not rules:
        return svg
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    return re.sub(r"<svg\b[^>]*>", lambda head: head.group() + style, svg, count=1)


def _on_dark(colour: str) -> str:
    """Return a colour on the dark ground: a grey turned round, another mixed with white until it
    contrasts."""
    if colour == "ffffff":
        return _DARK_GROUND
    if colour[:2] == colour[2:4] == colour[4:]:
        return f"{round(0xF0 - int(colour[:2], 16) * (0xF0 - 0x18) / 255):02x}" * 3
    shares = np.array(to_rgb(f"#{colour}"))
    mixed = (shares + white * (1 - shares) for white in np.arange(0, 1, 0.05))
    enough = _LEAST_CONTRAST * (relative_luminance(f"#{_DARK_GROUND}") + 0.05) - 0.05
    red, green, blue = next(lighter for lighter in mixed if relative_luminance(lighter) >= enough)
    return to_hex((red, green, blue))[1:]


def _turned(colour: str) -> str:
    """Return a cell's colour with the contrast to black that it had to white, so that black and white writing
    on it change places."""
    wanted = 1.05 * 0.05 / (relative_luminance(f"#{colour}") + 0.05) - 0.05
    hue, _, saturation = colorsys.rgb_to_hls(*to_rgb(f"#{colour}"))
    levels = (colorsys.hls_to_rgb(hue, level, saturation) for level in np.linspace(0, 1, 256))
    light = (np.clip(shares, 0, 1) for shares in levels)  # shares just below 0 by Python 3.11.2
    red, green, blue = min(light, key=lambda shares: abs(relative_luminance(shares) - wanted))
    return to_hex((red, green, blue))[1:]
