"""Synonyms, and shares with intervals, for testing an encoder."""

import numpy as np
import pytest

from radeval_lib.lexicon.loading import load_lexicon
from radeval_lib.stats.resampling import share_interval
from radeval_lib.synthetic import entity_counterparts


@pytest.fixture(scope="module")
def couples():
    return entity_counterparts.synonyms(np.random.default_rng(1))


def test_synonyms_are_names_of_one_finding_and_the_other_is_not(couples):
    concepts = load_lexicon().concepts
    for row in couples.itertuples():
        own = {name.one.text.lower() for name in concepts[row.concept].names}
        assert {row.name, row.synonym} <= own
        assert row.name != row.synonym
        assert row.other not in own


def test_the_other_name_is_of_the_same_region(couples):
    concepts = load_lexicon().concepts
    regions = {}
    for concept in concepts.values():
        for name in concept.names:
            regions.setdefault(name.one.text.lower(), set()).add(concept.region)
    assert all(concepts[row.concept].region in regions[row.other] for row in couples.itertuples())


def test_common_words_are_noted(couples):
    for row in couples.itertuples():
        assert row.shared == any(word in row.synonym.split() for word in row.name.split())
    assert couples["shared"].nunique() == 2


def test_the_draw_depends_on_the_generator_alone(couples):
    assert couples.equals(entity_counterparts.synonyms(np.random.default_rng(1)))
    assert not couples.equals(entity_counterparts.synonyms(np.random.default_rng(2)))


def test_share_of_equal_groups_has_no_width():
    share = share_interval([1, 0, 1, 0], ["a", "a", "b", "b"], resamples=50, rng=np.random.default_rng(0))
    assert share == (0.5, 0.5, 0.5)


def test_share_interval_covers_the_share_and_widens_with_fewer_groups():
    rng = np.random.default_rng(0)
    hits = rng.random(400) < 0.7
    alone = share_interval(hits, [str(i) for i in range(400)], resamples=500, rng=np.random.default_rng(1))
    clustered = share_interval(
        np.sort(hits), [str(i // 40) for i in range(400)], resamples=500, rng=np.random.default_rng(1)
    )
    assert alone[1] < hits.mean() < alone[2]
    assert clustered[2] - clustered[1] > alone[2] - alone[1]


@pytest.mark.parametrize(("hits", "groups"), [([], []), ([1, 0], ["a"])])
def test_shares_of_nothing_are_refused(hits, groups):
    with pytest.raises(ValueError, match="groups"):
        share_interval(hits, groups, resamples=5, rng=np.random.default_rng(0))
