"""Released code restated on toy input. Values marked with a repository come from running that code."""

from __future__ import annotations

from radeval_lib.papers import demonstrations as demo


def test_pairs_shift_where_a_text_keeps_no_sentence() -> None:
    references = [["Normal heart."], ["Clear lungs."], ["No effusion."]]
    candidates = [["Normal heart."], ["OK"], ["No effusion."]]
    assert demo.pair_sentences_as_released(references, candidates) == [
        (["Normal heart."], ["Normal heart."]),
        (["Clear lungs."], ["No effusion."]),
    ]


def test_indication() -> None:
    report = "HEAD CT. INDICATION: fall. COMPARISON: none. FINDINGS: no bleed."
    assert demo.cut_reason(report, "meant") == "INDICATION: fall. "
    # RaLEs 5cc18ce: nine characters too many, since the end was measured before "HEAD CT. " was cut off.
    assert demo.cut_reason(report, "released") == "INDICATION: fall. COMPARISO"
    assert demo.cut_reason("INDICATION: fall.", "released") == "INDICATION: fall"  # no COMPARISON: end -1
    assert demo.cut_reason("INDICATION: fall.", "meant") == "INDICATION: fall."


def test_findings_after_the_impression_are_shifted() -> None:
    names = ["impression", "findings", "addendum"]
    texts = ["no bleed", "the ventricles are normal", "called at 5"]
    assert demo.cut_findings(names, texts, "meant") == "the ventricles are normal"
    assert demo.cut_findings(names, texts, "released") == "no bleed"
    before = ["findings", "impression"]
    assert demo.cut_findings(before, texts, "released") == demo.cut_findings(before, texts, "meant")


def test_cluster_search() -> None:
    # n = 9: middle of 0..8 is 4; each k right of it must beat it.
    falling = {k: 1 / k for k in range(2, 9)}
    assert demo.search_cluster_number(falling, 9) == 4  # the best is 2
    peak_left = {2: 0.9, 3: 0.1, 4: 0.2, 5: 0.3, 6: 0.4, 7: 0.1, 8: 0.1}
    assert demo.search_cluster_number(peak_left, 9) == 6
    for sentences in range(1, 5):
        assert demo.search_cluster_number(falling, sentences) == 1


def test_title_pieces() -> None:
    header = "CT HEAD W/O CONTRAST   CT CHEST W/CONTRAST"
    assert demo.split_titles(header, "meant") == ["CT HEAD W/O CONTRAST", "CT CHEST W/CONTRAST"]
    assert demo.split_titles(header, "released") == [header]
    assert demo.split_titles("CT HEAD   CT 3D RECON", "released") == []  # one digit loses the whole header


def test_labels_by_string() -> None:
    # RaLEs 5cc18ce, convert_dict_to_small_dict: "pleural effusion" is no word, the second "left" no entity.
    text, entities = "left pleural effusion , unchanged on left view", [(0, 0, "ANAT-DP"), (1, 2, "OBS-DP")]
    meant = demo.label_words(text, entities, "meant")
    assert meant == ["ANAT-DP", "OBS-DP", "OBS-DP", "O", "O", "O", "O", "O"]
    released = demo.label_words(text, entities, "released")
    assert released == ["ANAT-DP", "O", "O", "O", "O", "O", "ANAT-DP", "O"]
