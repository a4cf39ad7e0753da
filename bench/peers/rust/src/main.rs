//! What a Rust team that cares for speed writes: hyper; sonic-rs, which reads straight into levels; batches without a
//! wait; ONNX Runtime on a thread of its own. It has no limits, metrics or logs, checks neither
//! ranges nor units, and derives no sleep stage that is left out.
//! Its settings come from the environment: `bench/peers/catalogue.ts` starts it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Response, StatusCode, server::conn::http1, service::service_fn};
use ort::session::{Session as Graph, builder::GraphOptimizationLevel};
use ort::value::TensorRef;
use serde::{Deserialize, de};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PAST_MAX: usize = 5;
const FEATURES: usize = 30;
const TARGETS: usize = 7;
/// Most requests in one run of the model: the service's default.
const BATCH_MAX: usize = 32;
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
const BACKLOG: u32 = 2048;
/// Beyond it tokio looks for new events between two tasks: a turn is to be read to its end before the model is asked.
const TASKS_PER_TURN: u32 = 1024;

// The contract, filled by the JSON reader.

#[derive(Deserialize)]
struct Request {
    current_session: Session,
    past_sessions: Option<Vec<Session>>,
    #[serde(alias = "past_target")]
    past_targets: Option<Vec<Target>>,
}

#[derive(Deserialize)]
#[allow(non_snake_case)]
struct Session {
    HR_day_1h: Option<Level<true>>,
    RR_day_1h: Option<Level<false>>,
    #[serde(alias = "HR_night_imputed")]
    HR_night: Option<Level<true>>,
    #[serde(alias = "RR_night_imputed")]
    RR_night: Option<Level<false>>,
    deepSleepSeconds: Option<f64>,
    remSleepSeconds: Option<f64>,
    lightSleepSeconds: Option<f64>,
    awakeSleepSeconds: Option<f64>,
    age: Option<f64>,
    height_cm: Option<f64>,
    weight_kg: Option<f64>,
    sex: Option<Sex>,
}

#[derive(Clone, Copy, Deserialize)]
enum Sex {
    M,
    F,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
enum Label {
    Low,
    High,
}

#[derive(Deserialize)]
#[allow(non_snake_case)]
struct Target {
    C_SCORE: f64,
    attention: f64,
    memory: f64,
    reasoning: f64,
    stress: f64,
    valence: Label,
    arousal: Label,
}

// A series is reduced to its level while it is read: no sample is kept.

const MEDIAN_SAMPLES_MIN: usize = 12;
const TRIMMED_SAMPLES_MIN: usize = 5;
/// Enough for both signals: 216 beats, 269 quarters of a breath.
const BINS: usize = 272;

/// The level of the plausible samples, NaN without one; `HEART` says which signal it is.
struct Level<const HEART: bool>(f64);

struct Tally<const HEART: bool> {
    bins: [u32; BINS],
    /// The first plausible samples: a short series has a mean instead of a median.
    first: [f32; MEDIAN_SAMPLES_MIN],
    plausible: usize,
    smallest: f32,
    largest: f32,
}

impl<const HEART: bool> Tally<HEART> {
    const LOW: f32 = if HEART { 25.0 } else { 3.0 };
    const HIGH: f32 = if HEART { 240.0 } else { 70.0 };
    const BINS_PER_UNIT: f32 = if HEART { 1.0 } else { 4.0 };

    fn bin(sample: f32) -> usize {
        ((sample - Self::LOW) * Self::BINS_PER_UNIT + 0.5) as usize
    }

    #[inline(always)]
    fn add(&mut self, sample: f32) {
        if !(sample >= Self::LOW && sample <= Self::HIGH) {
            return;
        }
        self.bins[Self::bin(sample)] += 1;
        if self.plausible < MEDIAN_SAMPLES_MIN {
            self.first[self.plausible] = sample;
        }
        self.plausible += 1;
        self.smallest = self.smallest.min(sample);
        self.largest = self.largest.max(sample);
    }

    fn level(&mut self) -> f64 {
        if self.plausible >= MEDIAN_SAMPLES_MIN {
            return self.median();
        }
        let mut values = &mut self.first[..self.plausible];
        if values.len() >= TRIMMED_SAMPLES_MIN {
            values.sort_unstable_by(f32::total_cmp);
            let last = values.len() - 1;
            values = &mut values[1..last];
        }
        values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64
    }

    /// Of a histogram, straight within a bin.
    fn median(&self) -> f64 {
        let rank = self.plausible as f64 / 2.0;
        let mut below = 0;
        let mut bin = Self::bin(self.smallest);
        while f64::from(below + self.bins[bin]) < rank {
            below += self.bins[bin];
            bin += 1;
        }
        let within = (rank - f64::from(below)) / f64::from(self.bins[bin]);
        let value =
            f64::from(Self::LOW) + (bin as f64 - 0.5 + within) / f64::from(Self::BINS_PER_UNIT);
        value.clamp(f64::from(self.smallest), f64::from(self.largest))
    }
}

impl<'de, const HEART: bool> Deserialize<'de> for Level<HEART> {
    fn deserialize<D: de::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let mut tally = Tally::<HEART> {
            bins: [0; BINS],
            first: [0.0; MEDIAN_SAMPLES_MIN],
            plausible: 0,
            smallest: f32::INFINITY,
            largest: f32::NEG_INFINITY,
        };
        reader.deserialize_seq(&mut tally)?;
        Ok(Level(tally.level()))
    }
}

impl<'de, const HEART: bool> de::Visitor<'de> for &mut Tally<HEART> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("an array of numbers")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        while let Some(sample) = numbers.next_element()? {
            self.add(sample);
        }
        Ok(())
    }
}

// The rows that the network is fed: the same numbers as the service's. NaN is missing.

type Row = [f32; FEATURES];

struct Input {
    session: Row,
    past: Option<Box<Past>>,
}

/// The newest session first; absent places are zero.
#[derive(Default)]
struct Past {
    sessions: [Row; PAST_MAX],
    targets: [[f32; TARGETS]; PAST_MAX],
    present: [f32; PAST_MAX],
}

/// Centre and scale of every feature; each second one is the mask of the one after it.
#[derive(Deserialize)]
struct Scaling {
    clamp: f64,
    features: Vec<(f64, f64)>,
}

/// Absent where sessions and targets do not fit each other.
fn input_of(scaling: &Scaling, request: &Request) -> Option<Input> {
    let sessions = request.past_sessions.as_deref().unwrap_or_default();
    let targets = request.past_targets.as_deref().unwrap_or_default();
    if sessions.len() != targets.len() || sessions.len() > PAST_MAX {
        return None;
    }
    let past = (!sessions.is_empty()).then(|| {
        let mut past = Box::<Past>::default();
        for (place, (session, target)) in sessions.iter().zip(targets).rev().enumerate() {
            past.sessions[place] = row_of(scaling, session);
            past.targets[place] = target_row(target);
            past.present[place] = 1.0;
        }
        past
    });
    Some(Input {
        session: row_of(scaling, &request.current_session),
        past,
    })
}

fn row_of(scaling: &Scaling, session: &Session) -> Row {
    let (asleep_s, awake_s, shares) = sleep_of(session);
    let (height, weight) = (or_nan(session.height_cm), or_nan(session.weight_kg));
    let values = [
        level_of(&session.HR_day_1h),
        level_of(&session.RR_day_1h),
        level_of(&session.HR_night),
        level_of(&session.RR_night),
        asleep_s / 3600.0,
        shares[0],
        shares[1],
        shares[2],
        awake_s / 3600.0,
        ratio(asleep_s, asleep_s + awake_s),
        or_nan(session.age),
        session.sex.map_or(
            f64::NAN,
            |sex| if matches!(sex, Sex::M) { 1.0 } else { -1.0 },
        ),
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
        let (centre, scale) = scaling.features[2 * group + 1];
        row[2 * group] = 1.0;
        row[2 * group + 1] = ((value - centre) / scale).clamp(-scaling.clamp, scaling.clamp) as f32;
    }
    row
}

fn level_of<const HEART: bool>(series: &Option<Level<HEART>>) -> f64 {
    series.as_ref().map_or(f64::NAN, |level| level.0)
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

/// Seconds asleep and awake, and the shares of deep, REM and light sleep; a stage that is left out is not derived.
fn sleep_of(session: &Session) -> (f64, f64, [f64; 3]) {
    let stages_s = [
        session.deepSleepSeconds,
        session.remSleepSeconds,
        session.lightSleepSeconds,
    ];
    let awake_s = or_nan(session.awakeSleepSeconds);
    let sum_s = stages_s.map(or_nan).iter().sum();
    (
        sum_s,
        awake_s,
        stages_s.map(|stage_s| ratio(or_nan(stage_s), sum_s)),
    )
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

fn or_nan(given: Option<f64>) -> f64 {
    given.unwrap_or(f64::NAN)
}

// The model's thread: it takes all that waits, up to a full batch, each time it is free.

type Scores = [f32; 7];

#[derive(Deserialize)]
struct Manifest {
    graphs: std::collections::HashMap<String, GraphFile>,
    thresholds: Thresholds,
}

#[derive(Deserialize)]
struct GraphFile {
    file: String,
}

#[derive(Clone, Copy, Deserialize)]
struct Thresholds {
    valence: f32,
    arousal: f32,
}

#[derive(Clone, Copy)]
struct Answer {
    scores: Scores,
    infer_ms: f32,
}

type Caller = oneshot::Sender<Answer>;

struct Job {
    input: Input,
    caller: Caller,
}

struct Model {
    base: Graph,
    history: Graph,
}

impl Model {
    fn open(folder: &Path, manifest: &Manifest) -> ort::Result<Model> {
        let environment = ort::init_from(setting("BENCH_ORT"))
            .expect("the library of ONNX Runtime loads")
            .with_telemetry(false)
            .build()?;
        let open = |name: &str| -> ort::Result<Graph> {
            Graph::builder(&environment)?
                .with_intra_threads(1)?
                .with_inter_threads(1)?
                .with_optimization_level(GraphOptimizationLevel::All)?
                .commit_from_file(folder.join(&manifest.graphs[name].file))
        };
        Ok(Model {
            base: open("base")?,
            history: open("history")?,
        })
    }

    fn score(&mut self, jobs: &[&Job]) -> ort::Result<Vec<Scores>> {
        let rows = jobs.len();
        let sessions: Vec<f32> = jobs.iter().flat_map(|job| job.input.session).collect();
        let session = TensorRef::from_array_view(([rows, FEATURES], &sessions[..]))?;
        let pasts: Vec<&Past> = jobs
            .iter()
            .filter_map(|job| job.input.past.as_deref())
            .collect();
        if pasts.is_empty() {
            return scores_of(&self.base.run(ort::inputs!["session" => session])?);
        }
        let past: Vec<f32> = pasts
            .iter()
            .flat_map(|past| past.sessions.as_flattened())
            .copied()
            .collect();
        let targets: Vec<f32> = pasts
            .iter()
            .flat_map(|past| past.targets.as_flattened())
            .copied()
            .collect();
        let present: Vec<f32> = pasts.iter().flat_map(|past| past.present).collect();
        scores_of(&self.history.run(ort::inputs![
            "session" => session,
            "past" => TensorRef::from_array_view(([rows, PAST_MAX, FEATURES], &past[..]))?,
            "targets" => TensorRef::from_array_view(([rows, PAST_MAX, TARGETS], &targets[..]))?,
            "present" => TensorRef::from_array_view(([rows, PAST_MAX], &present[..]))?,
        ])?)
    }
}

fn scores_of(outputs: &ort::session::SessionOutputs) -> ort::Result<Vec<Scores>> {
    Ok(outputs["scores"]
        .try_extract_tensor::<f32>()?
        .1
        .as_chunks()
        .0
        .to_vec())
}

/// Runs for ever. The answers of a run go back together: one wake-up of the event loop for each batch.
fn run_model(
    mut model: Model,
    turns: std::sync::mpsc::Receiver<Vec<Job>>,
    answers: mpsc::UnboundedSender<Vec<(Caller, Answer)>>,
) {
    let mut waiting = Vec::new();
    loop {
        if waiting.is_empty() {
            waiting = turns.recv().expect("the event loop runs");
        }
        waiting.extend(turns.try_iter().flatten());
        let batch: Vec<Job> = waiting.drain(..waiting.len().min(BATCH_MAX)).collect();
        let start = Instant::now();
        // One run of each graph: those without a past, then those with one.
        let (base, history): (Vec<&Job>, Vec<&Job>) =
            batch.iter().partition(|job| job.input.past.is_none());
        let mut scores = [base, history].map(|jobs| {
            let found = if jobs.is_empty() {
                Ok(Vec::new())
            } else {
                model.score(&jobs)
            };
            found.expect("the network gives scores").into_iter()
        });
        let infer_ms = start.elapsed().as_secs_f32() * 1000.0;
        let answered = batch.into_iter().map(|Job { input, caller }| {
            let scores = scores[usize::from(input.past.is_some())]
                .next()
                .expect("a row for each input");
            (caller, Answer { scores, infer_ms })
        });
        let _ = answers.send(answered.collect());
    }
}

// HTTP: the key, the body, the answer.

struct Server {
    key_digest: String,
    scaling: Scaling,
    thresholds: Thresholds,
    jobs: mpsc::UnboundedSender<Job>,
}

type Reply = Response<Full<Bytes>>;

async fn answer(
    request: hyper::Request<hyper::body::Incoming>,
    server: &Server,
) -> Result<Reply, hyper::Error> {
    if request.method() != Method::POST || request.uri().path() != "/predict" {
        return Ok(refusal(StatusCode::NOT_FOUND));
    }
    let key = request
        .headers()
        .get("x-api-key")
        .map_or(&b""[..], |key| key.as_bytes());
    if URL_SAFE_NO_PAD.encode(Sha256::digest(key)) != server.key_digest {
        return Ok(refusal(StatusCode::FORBIDDEN));
    }
    let Ok(body) = Limited::new(request.into_body(), BODY_BYTES_MAX)
        .collect()
        .await
    else {
        return Ok(refusal(StatusCode::PAYLOAD_TOO_LARGE));
    };
    // SAFETY: no string of the request is kept, so none that is not UTF-8 comes to be.
    let read = unsafe { sonic_rs::from_slice_unchecked::<Request>(&body.to_bytes()) };
    let Some(input) = read
        .ok()
        .and_then(|request| input_of(&server.scaling, &request))
    else {
        return Ok(refusal(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let (caller, scored) = oneshot::channel();
    let _ = server.jobs.send(Job { input, caller });
    let found = scored.await.expect("the model's thread answers");
    Ok(json(StatusCode::OK, text_of(&found, server.thresholds)))
}

fn text_of(Answer { scores, infer_ms }: &Answer, thresholds: Thresholds) -> Vec<u8> {
    let [
        composite,
        attention,
        memory,
        reasoning,
        stress,
        valence,
        arousal,
    ] = *scores;
    let label = |value: f32, threshold: f32| if value >= threshold { "High" } else { "Low" };
    let mut text = Vec::with_capacity(192);
    write!(
        text,
        r#"{{"C_SCORE":{composite:.2},"attention":{attention:.2},"memory":{memory:.2},"reasoning":{reasoning:.2},"stress":{stress:.2},"valence":"{}","arousal":"{}","inference_time_ms":{infer_ms:.2}}}"#,
        label(valence, thresholds.valence),
        label(arousal, thresholds.arousal),
    )
    .expect("a Vec takes all");
    text
}

fn refusal(status: StatusCode) -> Reply {
    json(status, br#"{"detail":"refused"}"#.to_vec())
}

fn json(status: StatusCode, text: Vec<u8>) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(text)));
    *reply.status_mut() = status;
    reply
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

fn setting(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: bench/peers.ts starts the peers"))
}

fn main() -> std::io::Result<()> {
    let folder = setting("BENCH_MODEL");
    let text = std::fs::read(Path::new(&folder).join("manifest.json"))?;
    let manifest: Manifest =
        sonic_rs::from_slice(&text).expect("the manifest of the bundle is readable");
    let model = Model::open(Path::new(&folder), &manifest).expect("the graphs load");
    let (to_model, turns) = std::sync::mpsc::channel();
    let (answers, mut answered) = mpsc::unbounded_channel();
    let (jobs, mut sent) = mpsc::unbounded_channel();
    std::thread::spawn(move || run_model(model, turns, answers));
    let server = Rc::new(Server {
        key_digest: setting("BENCH_KEY_DIGEST"),
        scaling: sonic_rs::from_str(&setting("BENCH_FEATURES")).expect("BENCH_FEATURES is JSON"),
        thresholds: manifest.thresholds,
        jobs,
    });
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().event_interval(TASKS_PER_TURN).build()?;
    LocalSet::new().block_on(&runtime, async {
        // Woken after everything that this turn of the loop has to read: what it read goes to the model together.
        spawn_local(async move {
            let mut turn = Vec::new();
            while sent.recv_many(&mut turn, usize::MAX).await > 0 {
                let _ = to_model.send(std::mem::take(&mut turn));
            }
        });
        spawn_local(async move {
            while let Some(batch) = answered.recv().await {
                for (caller, answer) in batch {
                    let _ = caller.send(answer); // fails if the caller has left
                }
            }
        });
        if let Ok(path) = std::env::var("BENCH_SOCKET") {
            let listener = tokio::net::UnixListener::bind(&path)?;
            println!(
                r#"{{"event":"listening","pid":{},"port":null,"socket":"{path}"}}"#,
                std::process::id()
            );
            loop {
                let (stream, _) = listener.accept().await?;
                serve(stream, Rc::clone(&server));
            }
        }
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind((std::net::Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(BACKLOG)?;
        let port = listener.local_addr()?.port();
        println!(
            r#"{{"event":"listening","pid":{},"port":{port}}}"#,
            std::process::id()
        );
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            serve(stream, Rc::clone(&server));
        }
    })
}

fn serve(stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static, server: Rc<Server>) {
    spawn_local(async move {
        let service = service_fn(|request| answer(request, &server));
        let mut http = http1::Builder::new();
        http.header_read_timeout(None).auto_date_header(false);
        // Fails if the caller leaves.
        let _ = http
            .serve_connection(hyper_util::rt::TokioIo::new(stream), service)
            .await;
    });
}
