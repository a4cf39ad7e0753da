//! One scale for the shares, one meaning for the time asleep, and what arithmetic can derive. NaN is missing.

use crate::request::Session;

#[derive(Default)]
pub struct Sleep {
    pub asleep_s: f64,
    pub awake_s: f64,
    pub shares: [f64; 3],
    stages_s: [f64; 3],
}

const OTHERS: [(usize, usize); 3] = [(1, 2), (0, 2), (0, 1)];
const SHARES_SUM_MAX: f64 = 1.05 + 1e-9;

impl Sleep {
    /// Undefined where the fields contradict each other: most likely a mistaken unit.
    pub fn of(session: &Session) -> Option<Sleep> {
        let given_s = or_nan(session.sleepTimeSeconds);
        let stages_s = [
            session.deepSleepSeconds,
            session.remSleepSeconds,
            session.lightSleepSeconds,
        ]
        .map(or_nan);
        let shares = [
            session.deepPercentage,
            session.remPercentage,
            session.lightPercentage,
        ]
        .map(or_nan);
        let awake_s = or_nan(session.awakeSleepSeconds);
        let sum_s = stages_s[0] + stages_s[1] + stages_s[2];
        if sum_s > 0.0 && 80.0 * sum_s >= given_s && 600.0 * sum_s <= 11.0 * given_s {
            return None;
        }
        let mut sleep = Sleep {
            asleep_s: given_s,
            awake_s,
            shares,
            stages_s,
        };
        if sum_s.is_nan() {
            sleep.scale_shares()?;
            sleep.derive();
        } else {
            sleep.asleep_s = sum_s;
            sleep.shares = stages_s.map(|stage| ratio(stage, sum_s));
        }
        (!sleep.is_in_minutes()).then_some(sleep)
    }

    fn scale_shares(&mut self) -> Option<()> {
        if self.shares.iter().any(|&share| share > 1.0) {
            self.shares = self.shares.map(|share| share * 0.01);
        }
        let sum: f64 = self.shares.iter().filter(|share| !share.is_nan()).sum();
        (sum <= SHARES_SUM_MAX).then_some(())
    }

    fn derive(&mut self) {
        for (stage, (a, b)) in OTHERS.into_iter().enumerate() {
            self.shares[stage] = known(self.shares[stage], 1.0 - self.shares[a] - self.shares[b]);
        }
        for stage in 0..3 {
            self.asleep_s = known(
                self.asleep_s,
                ratio(self.stages_s[stage], self.shares[stage]),
            );
        }
        for stage in 0..3 {
            self.stages_s[stage] = known(self.stages_s[stage], self.shares[stage] * self.asleep_s);
        }
        for (stage, (a, b)) in OTHERS.into_iter().enumerate() {
            let rest_s = self.asleep_s - self.stages_s[a] - self.stages_s[b];
            self.stages_s[stage] = known(self.stages_s[stage], rest_s);
        }
        for stage in 0..3 {
            self.shares[stage] = known(
                self.shares[stage],
                ratio(self.stages_s[stage], self.asleep_s),
            );
        }
    }

    fn is_in_minutes(&self) -> bool {
        (120.0..=720.0).contains(&self.asleep_s)
            && self.stages_s[0] >= 0.5
            && self.stages_s[1] >= 0.5
    }
}

pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

pub fn or_nan(given: Option<f64>) -> f64 {
    given.unwrap_or(f64::NAN)
}

fn known(value: f64, derived: f64) -> f64 {
    match value.is_nan() {
        false => value,
        true if derived >= 0.0 && derived < f64::INFINITY => derived,
        true => f64::NAN,
    }
}
