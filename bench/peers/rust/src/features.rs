//! The rows that the network is fed: the same numbers as the service's.

use crate::request::{Label, PAST_MAX, Request, Session, Sex, Target};
use crate::sleep::{Sleep, or_nan, ratio};
use serde::Deserialize;

pub const FEATURES: usize = 30;
pub const TARGETS: usize = 7;

pub type Row = [f32; FEATURES];

/// The groups in their order; each is a mask and one value.
const GROUPS: [&str; FEATURES / 2] = [
    "hr_day",
    "rr_day",
    "hr_night",
    "rr_night",
    "sleep_time",
    "deep_share",
    "rem_share",
    "light_share",
    "awake",
    "efficiency",
    "age",
    "sex",
    "height",
    "weight",
    "bmi",
];

/// What one request feeds to the network.
pub struct Input {
    pub session: Row,
    pub past: Option<Box<Past>>,
}

/// The newest session first; absent places are zero.
pub struct Past {
    pub sessions: [Row; PAST_MAX],
    pub targets: [[f32; TARGETS]; PAST_MAX],
    pub present: [f32; PAST_MAX],
}

/// The service's catalogue, as the runner hands it on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Catalogue {
    row_clamp: f64,
    past_max: usize,
    features: Vec<Feature>,
}

#[derive(Deserialize)]
struct Feature {
    name: String,
    centre: f64,
    scale: f64,
}

/// Centre and inverse scale of each group's value.
pub struct Scaling {
    clamp: f64,
    groups: [(f64, f64); GROUPS.len()],
}

impl Scaling {
    /// Ends the process where the catalogue is another one than this code was written for.
    pub fn of(catalogue: &Catalogue) -> Scaling {
        assert_eq!(
            catalogue.past_max, PAST_MAX,
            "the catalogue has another number of past sessions"
        );
        assert_eq!(
            catalogue.features.len(),
            FEATURES,
            "the catalogue has another number of features"
        );
        let groups = std::array::from_fn(|group| {
            let feature = &catalogue.features[2 * group + 1];
            assert_eq!(
                feature.name, GROUPS[group],
                "the catalogue has another order"
            );
            (feature.centre, 1.0 / feature.scale)
        });
        Scaling {
            clamp: catalogue.row_clamp,
            groups,
        }
    }

    /// Undefined where the request is no valid one.
    pub fn input(&self, request: &Request) -> Option<Input> {
        let (sessions, targets) = request.past()?;
        let session = self.row(&request.current_session)?;
        if sessions.is_empty() {
            return Some(Input {
                session,
                past: None,
            });
        }
        let mut past = Box::new(Past {
            sessions: [[0.0; FEATURES]; PAST_MAX],
            targets: [[0.0; TARGETS]; PAST_MAX],
            present: [0.0; PAST_MAX],
        });
        for (place, (session, target)) in sessions.iter().zip(targets).rev().enumerate() {
            past.sessions[place] = self.row(session)?;
            past.targets[place] = target_row(target);
            past.present[place] = 1.0;
        }
        Some(Input {
            session,
            past: Some(past),
        })
    }

    fn row(&self, session: &Session) -> Option<Row> {
        if !session.is_valid() {
            return None;
        }
        let levels = session
            .levels()?
            .map(|summary| summary.map_or(f64::NAN, |found| found.level));
        let sleep = Sleep::of(session)?;
        let (height, weight) = (or_nan(session.height_cm), or_nan(session.weight_kg));
        let sex = session.sex.map(|sex| match sex {
            Sex::M => 1.0,
            Sex::F => -1.0,
        });
        let values = [
            levels[0],
            levels[1],
            levels[2],
            levels[3],
            sleep.asleep_s / 3600.0,
            sleep.shares[0],
            sleep.shares[1],
            sleep.shares[2],
            sleep.awake_s / 3600.0,
            ratio(sleep.asleep_s, sleep.asleep_s + sleep.awake_s),
            or_nan(session.age),
            or_nan(sex),
            height,
            weight,
            weight / (height / 100.0).powi(2),
        ];
        let mut row = [0.0; FEATURES];
        for (group, value) in values
            .into_iter()
            .enumerate()
            .filter(|(_, value)| !value.is_nan())
        {
            let (centre, inverse_scale) = self.groups[group];
            row[2 * group] = 1.0;
            row[2 * group + 1] =
                ((value - centre) * inverse_scale).clamp(-self.clamp, self.clamp) as f32;
        }
        Some(row)
    }
}

fn target_row(target: &Target) -> [f32; TARGETS] {
    let score = |value: f64| ((value - 50.0) / 25.0) as f32;
    let label = |value: Label| if value == Label::High { 1.0 } else { -1.0 };
    [
        score(target.C_SCORE),
        score(target.attention),
        score(target.memory),
        score(target.reasoning),
        score(target.stress),
        label(target.valence),
        label(target.arousal),
    ]
}
