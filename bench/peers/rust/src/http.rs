//! HTTP by hyper: the key, the body, the answer.

use crate::desk::{Answer, Desk};
use crate::features::Scaling;
use crate::model::Thresholds;
use crate::request::Request as Prediction;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};
use std::io::Write;

const BODY_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What every loop needs, the same for all.
pub struct Shared {
    pub key_digest: [u8; 32],
    pub scaling: Scaling,
    pub thresholds: Thresholds,
}

type Reply = Response<Full<Bytes>>;

pub async fn answer(
    request: Request<Incoming>,
    shared: &Shared,
    desk: &Desk,
) -> Result<Reply, hyper::Error> {
    if request.method() != Method::POST || request.uri().path() != "/predict" {
        return Ok(refusal(StatusCode::NOT_FOUND));
    }
    let key = request.headers().get("x-api-key");
    if !key.is_some_and(|key| Sha256::digest(key.as_bytes())[..] == shared.key_digest) {
        return Ok(refusal(StatusCode::FORBIDDEN));
    }
    if request.body().size_hint().lower() > BODY_BYTES_MAX {
        return Ok(refusal(StatusCode::PAYLOAD_TOO_LARGE));
    }
    let body = whole(request.into_body()).await?;
    let Some(prediction) = read(&body) else {
        return Ok(refusal(StatusCode::BAD_REQUEST));
    };
    let Some(input) = shared.scaling.input(&prediction) else {
        return Ok(refusal(StatusCode::UNPROCESSABLE_ENTITY));
    };
    drop(prediction);
    let found = desk.score(input).await;
    Ok(json(StatusCode::OK, text_of(&found, shared.thresholds)))
}

/// Copied only where it did not come in one piece.
async fn whole(mut body: Incoming) -> Result<Bytes, hyper::Error> {
    let length = body.size_hint().lower() as usize;
    let mut pieces: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if pieces.is_empty() && data.len() >= length {
            return Ok(data);
        }
        if pieces.is_empty() {
            pieces.reserve_exact(length);
        }
        pieces.extend_from_slice(&data);
    }
    Ok(Bytes::from(pieces))
}

fn read(body: &[u8]) -> Option<Prediction> {
    // SAFETY: no string of the request is kept, so none that is not UTF-8 comes to be.
    unsafe { sonic_rs::from_slice_unchecked(body) }.ok()
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
