//! The level of a series, counted while its numbers are read: no sample is kept.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};
use std::fmt;

const MEDIAN_SAMPLES_MIN: usize = 12;
const TRIMMED_SAMPLES_MIN: usize = 5;
const BREATHS_MEDIAN_MAX: f32 = 40.0;
const BREATHS_SAMPLES_MIN: u32 = 10;
/// Enough for both signals: 216 beats, 269 quarters of a breath.
const BINS: usize = 272;

/// What is said of a series.
#[derive(Clone, Copy, Default)]
pub struct Summary {
    pub samples: u32,
    /// NaN where no sample is plausible.
    pub level: f64,
    /// Whether it seems to be in another unit, or another signal.
    pub is_doubtful: bool,
}

/// A series as it stands in a request; `HEART` says which signal it is.
pub struct Series<const HEART: bool>(pub Summary);

impl<'de, const HEART: bool> Deserialize<'de> for Series<HEART> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(SeriesVisitor::<HEART>)
    }
}

struct SeriesVisitor<const HEART: bool>;

impl<'de, const HEART: bool> Visitor<'de> for SeriesVisitor<HEART> {
    type Value = Series<HEART>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an array of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Series<HEART>, A::Error> {
        let mut tally = Tally::<HEART>::new();
        while numbers.next_element_seed(Sample(&mut tally))?.is_some() {}
        Ok(Series(tally.summary()))
    }
}

/// One number, counted where it is read: cheaper than by way of `f64`'s own `Deserialize`.
struct Sample<'a, const HEART: bool>(&'a mut Tally<HEART>);

impl<'de, const HEART: bool> DeserializeSeed<'de> for Sample<'_, HEART> {
    type Value = ();

    #[inline(always)]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_f64(self)
    }
}

impl<const HEART: bool> Visitor<'_> for Sample<'_, HEART> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a number")
    }

    #[inline(always)]
    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.0.add(number as f32);
        Ok(())
    }

    #[inline(always)]
    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.0.add(number as f64 as f32);
        Ok(())
    }

    #[inline(always)]
    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.0.add(number as f64 as f32);
        Ok(())
    }
}

struct Tally<const HEART: bool> {
    bins: [u32; BINS],
    /// The first plausible samples: a short series has a mean instead of a median.
    first: [f32; MEDIAN_SAMPLES_MIN],
    samples: u32,
    plausible: u32,
    sentinels: u32,
    fast: u32,
    smallest: f32,
    largest: f32,
}

impl<const HEART: bool> Tally<HEART> {
    const LOW: f32 = if HEART { 25.0 } else { 3.0 };
    const HIGH: f32 = if HEART { 240.0 } else { 70.0 };
    const BINS_PER_UNIT: f32 = if HEART { 1.0 } else { 4.0 };

    fn new() -> Self {
        Tally {
            bins: [0; BINS],
            first: [0.0; MEDIAN_SAMPLES_MIN],
            samples: 0,
            plausible: 0,
            sentinels: 0,
            fast: 0,
            smallest: f32::INFINITY,
            largest: f32::NEG_INFINITY,
        }
    }

    #[inline(always)]
    fn add(&mut self, sample: f32) {
        self.samples += 1;
        if !(sample >= Self::LOW && sample <= Self::HIGH) {
            self.sentinels += u32::from(matches!(sample, 0.0 | -1.0 | -2.0 | 255.0));
            return;
        }
        let bin = ((sample - Self::LOW) * Self::BINS_PER_UNIT + 0.5) as usize;
        self.bins[bin] += 1; // bin < 270: the sample is in range
        if (self.plausible as usize) < MEDIAN_SAMPLES_MIN {
            self.first[self.plausible as usize] = sample;
        }
        self.plausible += 1;
        self.fast += u32::from(sample > BREATHS_MEDIAN_MAX);
        self.smallest = self.smallest.min(sample);
        self.largest = self.largest.max(sample);
    }

    fn summary(mut self) -> Summary {
        let implausible = self.samples - self.plausible - self.sentinels;
        let is_other_unit = implausible >= 3 && implausible > self.plausible;
        let is_heart =
            !HEART && self.plausible >= BREATHS_SAMPLES_MIN && 2 * self.fast > self.plausible;
        Summary {
            samples: self.samples,
            level: self.level(),
            is_doubtful: is_other_unit || is_heart,
        }
    }

    fn level(&mut self) -> f64 {
        let count = self.plausible as usize;
        if count == 0 {
            return f64::NAN;
        }
        if count >= MEDIAN_SAMPLES_MIN {
            return self.median();
        }
        let mut values = &mut self.first[..count];
        if count >= TRIMMED_SAMPLES_MIN {
            values.sort_unstable_by(f32::total_cmp);
            values = &mut values[1..count - 1];
        }
        values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64
    }

    /// Of a histogram, straight within a bin.
    fn median(&self) -> f64 {
        let rank = f64::from(self.plausible) / 2.0;
        let mut below = 0;
        let mut found = ((self.smallest - Self::LOW) * Self::BINS_PER_UNIT + 0.5) as usize;
        while f64::from(below + self.bins[found]) < rank {
            below += self.bins[found];
            found += 1;
        }
        let within = (rank - f64::from(below)) / f64::from(self.bins[found]);
        let value =
            f64::from(Self::LOW) + (found as f64 - 0.5 + within) / f64::from(Self::BINS_PER_UNIT);
        value.clamp(f64::from(self.smallest), f64::from(self.largest))
    }
}
