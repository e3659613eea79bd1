"""Numbers and symbols as the rendered book sets them."""

from __future__ import annotations

import json
import re

import pytest
from docutils import nodes
from pybtex.database import Entry, Person

from radeval_lib import interactive
from radeval_lib.pipeline import bibliography, drawings, sphinx_extension, typesetting


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("-0.22 [-0.35, -.09]", "−0.22 [−0.35,\u00a0−.09]"),
        ("95 % [2%, 71%], [1,200 to +3]", "95% [2%,\u00a071%], [1,200 to\u00a0+3]"),
        ("5 %d, [4, text]", "5 %d, [4, text]"),
        ("(-3 to -1)", "(−3 to −1)"),
        ("GPT-4, 2026-11-26, 2-3, w-1, a - 1", "GPT-4, 2026-11-26, 2-3, w-1, a - 1"),
        ("10.1145/-1 --3", "10.1145/-1 --3"),
        ("-0.00 [-0.07, +0.0], +0%, (−0.), -0.0x", "0.00 [−0.07,\u00a00.0], 0%, (0.), −0.0x"),
        ("the papers', Table 1's", "the papers’, Table 1’s"),
        ("GREEN's, raters&#x27; mean, 'no', f('a')", "GREEN’s, raters’ mean, 'no', f('a')"),
        ("p < 0.001, p &lt; .05, > -2, a < b", "p <\u00a00.001, p &lt;\u00a0.05, >\u00a0−2, a < b"),
    ],
)
def test_numbers_are_set_and_other_characters_stay(plain: str, shown: str) -> None:
    assert typesetting.characters(plain) == shown


def test_html_is_set_outside_tags_and_code() -> None:
    html = '<td title="-1 τ_b">-1 τ_b</td><code>-1</code><script>[-1]</script><pre>-2 τ_b</pre>-3'
    assert typesetting.markup(html) == (
        '<td title="-1 τ_b">−1 τ<sub>b</sub></td><code>-1</code><script>[-1]</script><pre>-2 τ_b</pre>−3'
    )


def test_a_table_within_a_script_stays_as_it_is() -> None:
    script = '<script type="application/json">["<td>ROUGE-L<\\/td>"]</script>'
    assert typesetting.markup(script) == script


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ('how often "typically" is', "how often “typically” is"),
        ("three &#x27;Small masses&#x27; and GPT-4&#x27;s", "three ‘Small masses’ and GPT-4’s"),
        ("not of the form 'count. findings': '1.5 cm; 2'", "not of the form ‘count. findings’: ‘1.5 cm; 2’"),
        ("('pneumonia', Disease), 'in situ' v 'it's not'", "(‘pneumonia’, Disease), ‘in situ’ v ‘it’s not’"),
        ('<b title=\'a "b" c\'>"x</b>", 5\' 6"', '<b title=\'a "b" c\'>"x</b>", 5\' 6"'),
        ("<code>'x'</code><script>a('b', \"c\")</script>", "<code>'x'</code><script>a('b', \"c\")</script>"),
        ("the experts' and raters' grades", "the experts’ and raters’ grades"),
    ],
)
def test_quotation_marks_come_in_pairs(html: str, wanted: str) -> None:
    assert re.sub("</?span[^>]*>", "", typesetting.markup(html)) == wanted


def test_long_names_of_code_break_after_a_sign() -> None:
    set_once = typesetting.markup("tests/pages/test_preferences.py::test_ties, 0.5")
    assert set_once == "tests/<wbr>pages/<wbr>test_preferences.py::<wbr>test_ties, 0.5"
    assert typesetting.markup(set_once) == set_once
    longest = "a.csv, lib.formula.test_two_sides_of_something_long"
    assert "lib.<wbr>formula.<wbr>test_two_sides_of_something_<wbr>long" in typesetting.markup(longest)


def test_names_with_a_hyphen_stay_whole_in_html() -> None:
    kept = "<script>'<td>ROUGE-L'</script><option>ROUGE-L</option><svg><text>ROUGE-L</text></svg>"
    set_once = typesetting.markup(
        f"<th>ROUGE-L</th><td>in MIMIC-CXR, out-of-CXR</td><p>No <b>verdict</b>: microsoft/phi-2</p>{kept}"
    )
    assert set_once == (
        '<th><span class="whole">ROUGE-L</span></th>'
        '<td>in <span class="whole">MIMIC-CXR</span>, out-of-CXR</td>'
        f'<p>No <b>verdict</b>: <span class="whole">microsoft/phi-2</span></p>{kept}'
    )
    assert typesetting.markup(set_once) == set_once


def test_rows_of_a_table_to_search_are_set_as_its_page() -> None:
    (row,) = [['<a href="x-1.html">MIMIC-CXR</a>, "new" at -1 in Table 2', "DeBERTa-V3_base"]]
    page = interactive.search_table(["a", "b"], [row], "x").data
    set_once = typesetting.markup(page)
    data = re.search(r"<script[^>]*>(.*)</script>", set_once)
    assert data is not None
    assert json.loads(data[1]) == [
        [
            '<a href="x-1.html"><span class="whole">MIMIC-CXR</span></a>, “new” at −1 in Table\u00a02',
            '<span class="whole">DeBERTa-V3_base</span>',
        ]
    ]
    assert typesetting.markup(set_once) == set_once


def test_places_and_numbers_are_held_together_and_short_words_of_code_stay_whole() -> None:
    long = "data_manifests/papers/some/paper.yml"
    text = f"Sec 5, Appendix B; Table A: n − 1, n = 129, 0.8 ± 1 of Expert 2 <code>run -p x {long}</code>"
    set_once = typesetting.markup(text)
    assert set_once == (
        "Sec\u00a05, Appendix\u00a0B; Table\u00a0A: n\u00a0−\u00a01, n\u00a0=\u00a0129, 0.8\u00a0±\u00a01 "
        "of Expert\u00a02 "
        f'<code>run <span class="whole">-p</span> x {long}</code>'
    )
    assert typesetting.markup(set_once) == set_once


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("App C", "App\u00a0C"),
        ("of Task 8", "of Task\u00a08"),
        ("0.13 to\n0.36", "0.13\u00a0to\u00a00.36"),
        ("−2.3 to +2.4", "−2.3\u00a0to\u00a0+2.4"),
        ("reach τ_b = 1", "reach τ<sub>b</sub>\u00a0=\u00a01"),
    ],
)
def test_what_belongs_together_is_held_together(text: str, whole: str) -> None:
    assert typesetting.markup(text) == whole


def test_no_option_of_a_command_breaks() -> None:
    block = '<div class="highlight-bash notranslate"><div class="highlight"><pre>{}</pre></div></div>--a'
    plain = block.format('score <span class="c1"># by-hand</span> a-b --metric x -p 1')
    wanted = '<span class="whole">--metric</span> x <span class="whole">-p</span> 1'
    assert typesetting.commands(plain) == plain.replace("--metric x -p 1", wanted)


def test_a_drawing_comes_back_to_its_line_after_a_subscript() -> None:
    assert drawings.with_text_set("<style>a{b: -1px}</style><text>-1 τ_b with</text>") == (
        '<style>a{b: -1px}</style><text>−1 τ<tspan font-size="75%" dy="0.24em">b</tspan>'
        '<tspan dy="-0.18em"> with</tspan></text>'
    )


def test_a_page_is_set_but_for_its_code_and_formulas() -> None:
    page = nodes.paragraph("", "", nodes.Text("at τ_b -0.5, "), nodes.literal("", "τ_b -1"))
    page += [
        nodes.math("", "-1"),
        nodes.raw("", "<b>-1</b>", format="html"),
        nodes.raw("", "-1", format="latex"),
    ]
    page += nodes.raw("", "no minus", format="html")
    sphinx_extension.set_page(None, page, "page")  # type: ignore[arg-type]
    assert [type(one).__name__ for one in page.children[:3]] == ["Text", "subscript", "Text"]
    assert [one.astext() for one in page.children[3:]] == ["τ_b -1", "-1", "<b>−1</b>", "-1", "no minus"]
    assert "".join(one.astext() for one in page.children[:3]) == "at τb −0.5, "


def test_names_with_a_hyphen_stay_whole_in_prose() -> None:
    text = "by ROUGE-L, τ_b -1 of X-rays, out-of-CXR, GPT-4, a/b-2, x/y, RaTE-Eval, BY-NC-ND on 2026-11-27"
    page = nodes.paragraph("", "", nodes.Text(text))
    sphinx_extension.set_page(None, page, "page")  # type: ignore[arg-type]
    whole = [one.astext() for one in page.findall(nodes.inline)]
    assert whole == ["ROUGE-L", "X-rays", "GPT-4", "a/b-2", "RaTE-Eval", "BY-NC-ND", "2026-11-27"]
    assert page.astext() == text.replace("τ_b -1", "τb −1")


def test_a_citation_of_others_says_et_al() -> None:
    link = nodes.reference("", "Poe and others, 2026")
    page = nodes.paragraph("", "", nodes.Text("for her and others "), link)
    sphinx_extension.set_page(None, page, "page")  # type: ignore[arg-type]
    assert page.astext() == "for her and others Poe et al., 2026"


def test_names_and_short_code_in_prose_stay_whole() -> None:
    page = nodes.paragraph("", "", nodes.Text("ROUGE-1 in Section 2"), nodes.literal("", "--metric rouge_l"))
    page += [nodes.literal("", "data_manifests/papers/some/paper.yml"), nodes.Text("X-ray")]
    sphinx_extension.set_page(None, page, "page")  # type: ignore[arg-type]
    shown = [(one.astext(), one.get("classes") if isinstance(one, nodes.Element) else "") for one in page]
    assert shown == [
        *(("ROUGE-1", ["whole"]), (" in Section\u00a02", ""), ("--metric rouge_l", ["short"])),
        *(("data_manifests/papers/some/paper.yml", []), ("X-ray", ["whole"])),
    ]


def test_labels_of_the_bibliography_are_author_and_year() -> None:
    people = [Person("Doe, Jane"), Person("van der Berg, Jan"), Person("Roe, Kim")]
    entries = [Entry("misc", {"year": "2020"}, {"author": people[:n]}) for n in (1, 2, 3, 1)]
    entries.append(Entry("misc", {"year": "2006"}, {"author": [Person(r"Dem{\v{s}}ar, Janez")]}))
    entries.append(Entry("misc", {"year": "2026"}, {"author": [Person("Poe, Ann"), Person("others")]}))
    unnamed = Entry("misc", {})
    unnamed.key = "key"
    assert list(bibliography.AuthorYear().format_labels([*entries, unnamed])) == [
        *("Doe, 2020a", "Doe and van der Berg, 2020", "Doe et al., 2020", "Doe, 2020b"),
        *("Demšar, 2006", "Poe et al., 2026"),
        "key, n.d.",
    ]
