"""Texts that the reader does not know: another language, a loop of words, another kind of image."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from radeval_lib.rules.reader.phrases import word_set

NOT_ENGLISH = "not English"
LOOP = "the same words over and over"
OTHER_IMAGE = "another kind of image than radiology makes"


_WORDS = re.compile(r"[^\W\d_]+")
_ENGLISH = word_set(
    """
    the of is are and with in there to no for no not without normal clear left right evidence seen or on
    has small large mild be was were this that from at as by stable unchanged lung lungs heart chest
    """
)
_FOREIGN = word_set(
    """
    kein keine keinen ohne nicht und der die das mit im zur beidseits rechts links unauffaellig
    unauffallig herz lunge sin con del los las una derrame derecho izquierdo pulmon pulmones corazon se
    observa sans avec pas les des une droit droite gauche epanchement coeur poumon poumons normaux aucun
    aucune nessun nessuna senza destra sinistra versamento polmone cuore geen zonder niet het een sem
    esquerda direita pulmao nao observou obserwuje brak bez plynu zmian ingen ikke uten hoyre venstre ej
    utan normalt akciger kalp yok
    """
)
_OTHER_IMAGES = re.compile(
    r"\b(?:hematoxylin|h ?& ?e stain\w*|immunohistochem\w+|microscop\w+|histolog\w+|biops(?:y|ies) specimen|"
    r"endoscop\w+|colonoscop\w+|dermoscop\w+|fundus photograph\w*|sinus rhythm|st[- ]segments?|qrs|"
    r"electrocardiogra\w+|mitotic|photograph of|selfie)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def unreadable(text: str) -> str:
    """Why a text (in plain characters) is not read, or nothing."""
    words = [word.lower() for word in _WORDS.findall(text)]
    if not words:
        return ""
    if sum(not word.isascii() for word in words) > len(words) / 3:
        return NOT_ENGLISH
    foreign, english = (sum(word in known for word in words) for known in (_FOREIGN, _ENGLISH))
    if foreign > english:
        return NOT_ENGLISH
    # What is repeated so often leaves few that differ; few texts are counted.
    if len(words) >= 6 and len(set(words)) <= 0.6 * len(words) + 1:
        counts = Counter(word for word in words if word not in _ENGLISH)
        if counts and counts.most_common(1)[0][1] > 0.4 * len(words) >= 3:
            repeated = counts.most_common(1)[0][0]
            return "" if repeated.startswith("xx") else LOOP
    many = len(words) >= 30 and len(set(pairwise(words))) <= len(words) * 5 / 6
    if many and Counter(pairwise(words)).most_common(1)[0][1] > len(words) / 6:
        return LOOP
    if len({match.group().lower() for match in _OTHER_IMAGES.finditer(text)}) > 1:
        return OTHER_IMAGE
    return ""
