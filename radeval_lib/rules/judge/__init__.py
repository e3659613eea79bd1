"""The rule-based judge: findings of both reports aligned, every difference named, weighed and explained."""

from radeval_lib.rules.judge.judge import JudgedError, Judgement, RulesJudge, judge_pair

__all__ = ["JudgedError", "Judgement", "RulesJudge", "judge_pair"]
