"""The judge by rules: findings of both reports, aligned, and every difference named, weighed and explained."""

from radeval_lib.models.judges.rules.judge import Judgement, JudgedError, RulesJudge, judge_pair

__all__ = ["JudgedError", "Judgement", "RulesJudge", "judge_pair"]
