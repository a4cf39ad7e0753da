"""The contract as Pydantic models."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Seconds = Annotated[int, Field(ge=0, le=172_800)]
Share = Annotated[Number, Field(ge=0, le=100)]
Score = Annotated[Number, Field(ge=0, le=100)]
Day = Annotated[list[Number], Field(max_length=7_200)]
Night = Annotated[list[Number], Field(max_length=43_200)]
Label = Literal["Low", "High"]


class Session(BaseModel):
    HR_day_1h: Day | None = None
    RR_day_1h: Day | None = None
    HR_night: Night | None = None
    RR_night: Night | None = None
    HR_night_imputed: Night | None = None
    RR_night_imputed: Night | None = None
    sleepTimeSeconds: Seconds | None = None
    deepSleepSeconds: Seconds | None = None
    remSleepSeconds: Seconds | None = None
    lightSleepSeconds: Seconds | None = None
    awakeSleepSeconds: Seconds | None = None
    deepPercentage: Share | None = None
    remPercentage: Share | None = None
    lightPercentage: Share | None = None
    age: Annotated[Number, Field(ge=0, le=130)] | None = None
    height_cm: Annotated[Number, Field(ge=30, le=272)] | None = None
    weight_kg: Annotated[Number, Field(ge=1, le=650)] | None = None
    sex: Literal["M", "F"] | None = None


class ScoreRecord(BaseModel):
    C_SCORE: Score
    attention: Score
    memory: Score
    reasoning: Score
    stress: Score
    valence: Label
    arousal: Label


class PredictionRequest(BaseModel):
    current_session: Session
    past_sessions: Annotated[list[Session], Field(max_length=5)] | None = None
    past_targets: Annotated[list[ScoreRecord], Field(max_length=5)] | None = None
    past_target: Annotated[list[ScoreRecord], Field(max_length=5)] | None = None


class Prediction(ScoreRecord):
    inference_time_ms: float
