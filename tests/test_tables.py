"""Tables: a long one folds behind its caption."""

from __future__ import annotations

import pandas as pd
import pytest

from radeval_lib import tables


def test_folded_table_keeps_rows_and_is_opened_by_its_caption() -> None:
    view = tables.folded(tables.show(pd.DataFrame({"n": [1, 2]}), "Counts & sums")).data
    assert view.startswith("<details><summary><strong>Counts &amp; sums</strong></summary>")
    assert "<caption>" not in view
    assert view.count("<tr") == 3  # one row of heads, two of numbers


def test_a_table_without_a_caption_is_not_folded() -> None:
    with pytest.raises(ValueError, match="without a caption"):
        tables.folded(tables.show(pd.DataFrame({"n": [1]})))
