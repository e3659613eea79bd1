"""What a profile settles for RaLEs: its section ``rales`` under ``experiments``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

Count = Annotated[int, Field(strict=True, ge=0)]
AtLeastOne = Annotated[int, Field(strict=True, ge=1)]
RegimeName = Literal["all", "tenth", "hundredth", "probe"]

SHARES: dict[str, float] = {"all": 1.0, "tenth": 0.1, "hundredth": 0.01, "probe": 1.0}
"""Of the labels, in training and validation, by regime; ``probe`` has all of them and a frozen encoder."""


class Dimension(BaseModel, extra="forbid", frozen=True):
    """A setting that is searched: between two ends, or among choices."""

    low: float | None = None
    high: float | None = None
    log: bool = False
    whole: bool = False
    choices: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _either(self) -> Dimension:
        if bool(self.choices) == (self.low is not None and self.high is not None):
            raise ValueError("give either choices, or both low and high")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}")
        return self


class Selection(BaseModel, extra="forbid", frozen=True):
    """The experiment on selecting by the test set."""

    encoder: str
    task: str
    documents: AtLeastOne
    trials: AtLeastOne
    searches: AtLeastOne


class Pretraining(BaseModel, extra="forbid", frozen=True):
    """Continued pretraining of the in-domain encoder."""

    init_model: str
    role: str
    reports: AtLeastOne
    epochs: AtLeastOne
    batch_size: AtLeastOne
    learning_rate: float


class RalesSettings(BaseModel, extra="forbid", frozen=True):
    """The section."""

    encoders: tuple[str, ...] = Field(min_length=1)
    regimes: tuple[RegimeName, ...] = Field(min_length=1)
    shallow_layers: AtLeastOne
    trim: bool
    split_cells: bool
    documents: dict[str, Count]
    test_documents: dict[str, Count]
    rare_class: Count
    draws: dict[RegimeName, AtLeastOne]
    trials: dict[str, Count]
    startup: AtLeastOne
    defaults: dict[str, dict[str, Any]]
    space: dict[str, dict[str, Dimension]]
    pretraining: Pretraining
    selection: Selection
