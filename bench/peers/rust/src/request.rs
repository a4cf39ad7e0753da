//! The contract as types that the JSON reader fills.

use crate::series::{Series, Summary};
use serde::Deserialize;

pub const PAST_MAX: usize = 5;
const DAY_SAMPLES_MAX: u32 = 7_200;
const NIGHT_SAMPLES_MAX: u32 = 43_200;
const SECONDS_MAX: f64 = 172_800.0;

#[derive(Deserialize)]
pub struct Request {
    pub current_session: Session,
    past_sessions: Option<Vec<Session>>,
    past_targets: Option<Vec<Target>>,
    past_target: Option<Vec<Target>>,
}

#[derive(Deserialize)]
#[allow(non_snake_case)]
pub struct Session {
    HR_day_1h: Option<Series<true>>,
    RR_day_1h: Option<Series<false>>,
    HR_night: Option<Series<true>>,
    RR_night: Option<Series<false>>,
    HR_night_imputed: Option<Series<true>>,
    RR_night_imputed: Option<Series<false>>,
    pub sleepTimeSeconds: Option<f64>,
    pub deepSleepSeconds: Option<f64>,
    pub remSleepSeconds: Option<f64>,
    pub lightSleepSeconds: Option<f64>,
    pub awakeSleepSeconds: Option<f64>,
    pub deepPercentage: Option<f64>,
    pub remPercentage: Option<f64>,
    pub lightPercentage: Option<f64>,
    pub age: Option<f64>,
    pub height_cm: Option<f64>,
    pub weight_kg: Option<f64>,
    pub sex: Option<Sex>,
}

#[derive(Clone, Copy, Deserialize)]
pub enum Sex {
    M,
    F,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
pub enum Label {
    Low,
    High,
}

#[derive(Deserialize)]
#[allow(non_snake_case)]
pub struct Target {
    pub C_SCORE: f64,
    pub attention: f64,
    pub memory: f64,
    pub reasoning: f64,
    pub stress: f64,
    pub valence: Label,
    pub arousal: Label,
}

/// Heart and breath by day, heart and breath by night.
pub type Levels = [Option<Summary>; 4];

impl Request {
    /// Oldest first, as they were sent; undefined where they do not fit each other.
    pub fn past(&self) -> Option<(&[Session], &[Target])> {
        let sessions = self.past_sessions.as_deref().unwrap_or_default();
        let plural = self.past_targets.as_deref().unwrap_or_default();
        let singular = self.past_target.as_deref().unwrap_or_default();
        let targets = if plural.is_empty() { singular } else { plural };
        let is_twice = !plural.is_empty() && !singular.is_empty();
        let fits = sessions.len() == targets.len() && sessions.len() <= PAST_MAX && !is_twice;
        (fits && targets.iter().all(Target::is_valid)).then_some((sessions, targets))
    }
}

impl Target {
    fn is_valid(&self) -> bool {
        let scores = [
            self.C_SCORE,
            self.attention,
            self.memory,
            self.reasoning,
            self.stress,
        ];
        scores.iter().all(|score| (0.0..=100.0).contains(score))
    }
}

impl Session {
    pub fn is_valid(&self) -> bool {
        let seconds = [
            self.sleepTimeSeconds,
            self.deepSleepSeconds,
            self.remSleepSeconds,
            self.lightSleepSeconds,
            self.awakeSleepSeconds,
        ];
        let shares = [
            self.deepPercentage,
            self.remPercentage,
            self.lightPercentage,
        ];
        seconds.iter().all(|given| {
            given.is_none_or(|value| value.fract() == 0.0 && (0.0..=SECONDS_MAX).contains(&value))
        }) && shares.iter().all(|given| is_within(*given, 0.0, 100.0))
            && is_within(self.age, 0.0, 130.0)
            && is_within(self.height_cm, 30.0, 272.0)
            && is_within(self.weight_kg, 1.0, 650.0)
            && !is_twice(&self.HR_night, &self.HR_night_imputed)
            && !is_twice(&self.RR_night, &self.RR_night_imputed)
    }

    /// Undefined where a series is too long or in another unit.
    pub fn levels(&self) -> Option<Levels> {
        let levels = [
            summary(&self.HR_day_1h, &None),
            summary(&self.RR_day_1h, &None),
            summary(&self.HR_night, &self.HR_night_imputed),
            summary(&self.RR_night, &self.RR_night_imputed),
        ];
        let limits = [
            DAY_SAMPLES_MAX,
            DAY_SAMPLES_MAX,
            NIGHT_SAMPLES_MAX,
            NIGHT_SAMPLES_MAX,
        ];
        let is_sound = levels.iter().zip(limits).all(|(level, samples_max)| {
            level.is_none_or(|summary| !summary.is_doubtful && summary.samples <= samples_max)
        });
        is_sound.then_some(levels)
    }
}

fn is_within(given: Option<f64>, low: f64, high: f64) -> bool {
    given.is_none_or(|value| (low..=high).contains(&value))
}

fn is_twice<const HEART: bool>(one: &Option<Series<HEART>>, other: &Option<Series<HEART>>) -> bool {
    [one, other]
        .iter()
        .all(|given| given.as_ref().is_some_and(|series| series.0.samples > 0))
}

fn summary<const HEART: bool>(
    one: &Option<Series<HEART>>,
    other: &Option<Series<HEART>>,
) -> Option<Summary> {
    let given = [one, other]
        .into_iter()
        .flatten()
        .find(|series| series.0.samples > 0);
    given.map(|series| series.0)
}
