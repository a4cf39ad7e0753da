"""Generated from packages/rules by `npm run rules`: change it there."""

REQUEST_FIELDS = (
    "current_session",
    "past_sessions",
    "past_targets",
    "past_target",
    "explain",
    "history",
    "night",
    "measurements",
)
SESSION_FIELDS = (
    "HR_day_1h",
    "RR_day_1h",
    "HR_night",
    "RR_night",
    "HR_night_imputed",
    "RR_night_imputed",
    "sleepTimeSeconds",
    "deepSleepSeconds",
    "remSleepSeconds",
    "lightSleepSeconds",
    "awakeSleepSeconds",
    "deepPercentage",
    "remPercentage",
    "lightPercentage",
    "age",
    "height_cm",
    "weight_kg",
    "sex",
    "recording",
)
TARGET_FIELDS = (
    "C_SCORE",
    "attention",
    "memory",
    "reasoning",
    "stress",
    "valence",
    "arousal",
)
MEASUREMENT_FIELDS = (
    "score",
    "value",
    "on",
    "reliability",
    "test",
    "answers",
    "reactions_ms",
    "result",
)
MEASURED_FIELDS = (
    "attention",
    "memory",
    "reasoning",
    "stress",
    "valence",
    "arousal",
)
BREATHING_FIELDS = (
    "RR_day_1h",
    "RR_night",
    "RR_night_imputed",
)
NIGHT_SERIES = (
    "HR_night",
    "RR_night",
    "HR_night_imputed",
    "RR_night_imputed",
)
NUMBER_BOUNDS = {
    "sleepTimeSeconds": (0, 172800),
    "deepSleepSeconds": (0, 172800),
    "remSleepSeconds": (0, 172800),
    "lightSleepSeconds": (0, 172800),
    "awakeSleepSeconds": (0, 172800),
    "deepPercentage": (0, 100),
    "remPercentage": (0, 100),
    "lightPercentage": (0, 100),
    "age": (0, 130),
    "height_cm": (30, 272),
    "weight_kg": (1, 650),
}
PAST_MAX = 5
MEASUREMENTS_MAX = 64
RELIABILITY_BOUNDS = (0.05, 0.99)
DAY_SAMPLES_MAX = 7200
NIGHT_SAMPLES_MAX = 43200
NAME_LENGTH_MAX = 32
LETTERS_PER_EDIT = 3
SENTINELS = (0, 255, -1, -2)
SUSPECT_SAMPLES_MIN = 3
UNITS = {
    "heart rate": "beats per minute",
    "respiratory rate": "breaths per minute",
}
PLAUSIBLE = {
    "heart rate": (25, 240),
    "respiratory rate": (3, 70),
}
MISTAKES = {
    "heart rate": (
        (
            240,
            3000,
            "intervals between beats in milliseconds: heart rate is 60,000 divided by them",
        ),
        (
            0.3,
            2.5,
            "beats per second or intervals in seconds: heart rate is beats per minute",
        ),
        (
            4,
            25,
            "respiratory rate",
        ),
    ),
    "respiratory rate": (
        (
            200,
            3000,
            'R-R intervals in milliseconds: "RR" means respiratory rate here, not the time between beats',
        ),
        (
            0.03,
            1.5,
            "breaths per second or R-R intervals in seconds: respiratory rate is breaths per minute",
        ),
        (
            70,
            200,
            "heart rate",
        ),
    ),
}
BREATHS_PER_BEAT_MAX = 0.7
STAGES = (
    "deepSleepSeconds",
    "remSleepSeconds",
    "lightSleepSeconds",
)
SHARES = (
    "deepPercentage",
    "remPercentage",
    "lightPercentage",
)
SECONDS_FOR_A_MINUTE_MAX = 80
SECONDS_FOR_MINUTES_MIN = (600, 11)
MINUTES_BESIDE_SECONDS = (
    "deepSleepSeconds",
    "Expected seconds; deepSleepSeconds, remSleepSeconds and lightSleepSeconds look like minutes beside sleepTimeSeconds",
)
MINUTES_MIN = 120
MINUTES_MAX = 720
STAGE_S_MIN = 0.5
ALL_IN_MINUTES_MESSAGE = "Expected seconds; so little sleep with both deep and REM sleep in it looks like minutes"
HOURS_MIN = 1
HOURS_MAX = 24
ALL_IN_HOURS_MESSAGE = "Expected seconds; so few seconds of sleep with stages in them look like hours"
EPOCH_S = 30
ROUNDED_S = 60
STAGE_IN_MINUTES_MESSAGE = "Expected seconds; this stage looks like minutes beside sleepTimeSeconds and the other stages"
SHARES_SUM_MAX = 1.05
ROUNDING = 1e-9
SHARES_MESSAGE = "The shares add up to more than the whole sleep; one seems to count another stage too, or to be on another scale"
POINTS_SUM_MIN = 95
POINTS_SUM_MAX = 105
TWO_SCALES_MESSAGE = "The shares are on two scales; give all of them as fractions, or all of them as percent points"
SHORT_SLEEP_S = (120, 900)
LONG_NIGHT_SAMPLES = 100
SHORT_SLEEP_MESSAGE = "So few seconds of sleep beside so long a series of the night; is the sleep time in minutes?"
BREATHS_MEDIAN_MAX = 40
BREATHS_SAMPLES_MIN = 10
HEART_RATE_MESSAGE = "Expected breaths per minute; so high a median looks like heart rate in the place of respiratory rate"
FIRST_YEAR_OF_BIRTH = 1890
METRES_BELOW = 3
BODY_MASS_INDEX = (7, 130)
NIGHT_AGE_HOURS_MAX = 36
NIGHT_HOURS_MAX = 24
NIGHT_MINUTES_MAX = 1440
NIGHT_SECONDS_MIN = 900
