"""What a reader can move on a page, in a real browser, against the library's own numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect

from radeval_lib.metrics import ratescore


def test_an_edited_pair_scores_as_the_library_does(html: Path, page: Page) -> None:
    page.goto((html / "notebooks" / "ratescore" / "how_it_works.html").as_uri())
    message = json.loads(page.eval_on_selector(".ra-pair script", "script => script.textContent"))
    sides = ["reference", "candidate"]
    places = [(side, position) for side in sides for position in range(len(message[side]))]
    scorer = ratescore.Scorer("long", ratescore.options("released"))
    rng = np.random.default_rng(0)
    chosen = {where: message["types"].index(message[where[0]][where[1]][1]) for where in places}
    for edit in range(6):
        if edit:
            where = places[rng.integers(len(places))]
            chosen[where] = int(rng.integers(-1, 5))
            page.locator(".ra-pair select").nth(places.index(where)).select_option(str(chosen[where]))
        kept = {side: [n for s, n in places if s == side and chosen[s, n] >= 0] for side in sides}
        entities = {
            side: [(message[side][n][0], message["types"][chosen[side, n]]) for n in kept[side]]
            for side in sides
        }
        cosines = np.array(message["cosines"])[np.ix_(kept["reference"], kept["candidate"])]
        wanted = scorer.score(entities["reference"], entities["candidate"], cosines)
        expect(page.locator(".ra-pair [role=status]")).to_contain_text(f"core {wanted.score:.3f}")
