"""Which judge a name opens, and what a page calls it."""

import pytest

from radeval_lib.data.errors import StatementError
from radeval_lib.models import naming
from radeval_lib.models.identity import checksum
from radeval_lib.models.judges.endpoint import EndpointJudge
from radeval_lib.models.judges.opening import open_judge
from radeval_lib.rules.judge import RulesJudge
from radeval_lib.rules.judge.base import JudgeError


def test_rules_need_no_model():
    assert isinstance(open_judge("rules"), RulesJudge)
    assert len(checksum("rules")) == 64


@pytest.mark.parametrize(
    ("name", "model", "there"),
    [("http://127.0.0.1:8000/v1#green", "", "green"), ("http://127.0.0.1:8000/v1", "mine", "mine")],
)
def test_an_address_may_say_the_models_name(name, model, there):
    judge = open_judge(name, model=model)
    assert isinstance(judge, EndpointJudge)
    assert (judge.url, judge.model) == ("http://127.0.0.1:8000/v1", there)
    assert checksum(name) != checksum("http://127.0.0.1:8000/v1#other")


def test_no_server_gets_the_texts_of_a_data_root_without_a_statement(tmp_path, monkeypatch):
    monkeypatch.setenv("RADEVAL_DATA_ROOT", str(tmp_path))
    (tmp_path / "mimic_cxr").mkdir()
    (tmp_path / "mimic_cxr" / "mimic_cxr_sectioned.csv").touch()
    with pytest.raises(StatementError, match=r"mimic_cxr_rrs may not be sent to the model server 127\.0"):
        open_judge("http://127.0.0.1:8000/v1#green")
    (tmp_path / "statements").mkdir()
    (tmp_path / "statements" / "green.yml").write_text(
        "corpus: mimic_cxr_rrs\nserver: 127.0.0.1:8000\ndate: 2026-11-23\nsigned: A. Officer\n"
    )
    assert isinstance(open_judge("http://127.0.0.1:8000/v1#green"), EndpointJudge)


def test_no_page_shows_an_address():
    assert naming.title("http://127.0.0.1:8000/v1#green") == "green"
    assert naming.title("http://127.0.0.1:8000/v1") == "a model behind an endpoint"
    assert naming.title("rules") == "rules, no language model"


def test_a_judge_that_is_no_server_has_no_model_of_a_name():
    with pytest.raises(JudgeError, match="the judge 'rules' is no server"):
        open_judge("rules", model="mine")
