"""The rule-based judge, which aligns the findings of two reports, and names, weighs and explains each
difference."""

from radeval_lib.rules.judge.judge import JudgedError, Judgement, RulesJudge, judge_pair

__all__ = ["JudgedError", "Judgement", "RulesJudge", "judge_pair"]
