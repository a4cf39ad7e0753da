//! The two graphs of the bundle in one thread of ONNX Runtime, a batch at a time.

use crate::features::{FEATURES, Input, TARGETS};
use crate::request::PAST_MAX;
use ort::environment::Environment;
use ort::session::{Session, builder::GraphOptimizationLevel};
use ort::value::TensorRef;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

pub type Scores = [f32; 7];

#[derive(Deserialize)]
struct Manifest {
    graphs: HashMap<String, Graph>,
    thresholds: Thresholds,
}

#[derive(Deserialize)]
struct Graph {
    file: String,
}

#[derive(Clone, Copy, Deserialize)]
pub struct Thresholds {
    pub valence: f32,
    pub arousal: f32,
}

/// Scores in the order of their inputs, and how long the graphs ran.
pub struct Scored {
    pub scores: Vec<Scores>,
    pub infer_ms: f32,
}

pub struct Model {
    base: Session,
    history: Session,
    // The rows of a batch, kept for the next one.
    sessions: Vec<f32>,
    past: Vec<f32>,
    targets: Vec<f32>,
    present: Vec<f32>,
}

/// Where the network says High.
pub fn thresholds(folder: &Path) -> Thresholds {
    manifest(folder).thresholds
}

fn manifest(folder: &Path) -> Manifest {
    let text = std::fs::read(folder.join("manifest.json")).expect("the bundle has a manifest");
    sonic_rs::from_slice(&text).expect("the manifest of the bundle is readable")
}

impl Model {
    pub fn open(environment: &Environment, folder: &Path) -> ort::Result<Model> {
        let manifest = manifest(folder);
        let open = |name: &str| -> ort::Result<Session> {
            Session::builder(environment)?
                .with_intra_threads(1)?
                .with_inter_threads(1)?
                .with_optimization_level(GraphOptimizationLevel::All)?
                .commit_from_file(folder.join(&manifest.graphs[name].file))
        };
        Ok(Model {
            base: open("base")?,
            history: open("history")?,
            sessions: Vec::new(),
            past: Vec::new(),
            targets: Vec::new(),
            present: Vec::new(),
        })
    }

    /// One run a graph: those without a past, then those with one.
    pub fn score<'a>(
        &mut self,
        inputs: impl Iterator<Item = &'a Input> + Clone,
    ) -> ort::Result<Scored> {
        let start = Instant::now();
        let base = self.score_base(inputs.clone())?;
        let history = self.score_history(inputs.clone())?;
        let (mut base, mut history) = (base.into_iter(), history.into_iter());
        let scores = inputs
            .map(|input| {
                if input.past.is_none() {
                    base.next()
                } else {
                    history.next()
                }
            })
            .collect::<Option<Vec<Scores>>>()
            .expect("a row for each input");
        Ok(Scored {
            scores,
            infer_ms: start.elapsed().as_secs_f32() * 1000.0,
        })
    }

    fn score_base<'a>(
        &mut self,
        inputs: impl Iterator<Item = &'a Input>,
    ) -> ort::Result<Vec<Scores>> {
        self.sessions.clear();
        for input in inputs.filter(|input| input.past.is_none()) {
            self.sessions.extend_from_slice(&input.session);
        }
        let rows = self.sessions.len() / FEATURES;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let session = TensorRef::from_array_view(([rows, FEATURES], &self.sessions[..]))?;
        let outputs = self.base.run(ort::inputs!["session" => session])?;
        Ok(rows_of(outputs["scores"].try_extract_tensor::<f32>()?.1))
    }

    fn score_history<'a>(
        &mut self,
        inputs: impl Iterator<Item = &'a Input>,
    ) -> ort::Result<Vec<Scores>> {
        for kept in [
            &mut self.sessions,
            &mut self.past,
            &mut self.targets,
            &mut self.present,
        ] {
            kept.clear();
        }
        for input in inputs {
            let Some(past) = &input.past else { continue };
            self.sessions.extend_from_slice(&input.session);
            self.past.extend_from_slice(past.sessions.as_flattened());
            self.targets.extend_from_slice(past.targets.as_flattened());
            self.present.extend_from_slice(&past.present);
        }
        let rows = self.sessions.len() / FEATURES;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let session = TensorRef::from_array_view(([rows, FEATURES], &self.sessions[..]))?;
        let past = TensorRef::from_array_view(([rows, PAST_MAX, FEATURES], &self.past[..]))?;
        let targets = TensorRef::from_array_view(([rows, PAST_MAX, TARGETS], &self.targets[..]))?;
        let present = TensorRef::from_array_view(([rows, PAST_MAX], &self.present[..]))?;
        let outputs = self.history.run(ort::inputs![
            "session" => session,
            "past" => past,
            "targets" => targets,
            "present" => present,
        ])?;
        Ok(rows_of(outputs["scores"].try_extract_tensor::<f32>()?.1))
    }
}

fn rows_of(scores: &[f32]) -> Vec<Scores> {
    scores.as_chunks().0.to_vec()
}
