"""What a good Python team writes first: FastAPI, Pydantic, NumPy, ONNX Runtime in process, uvicorn with uvloop.

One process, one event loop, one run for each request; the settings come from the environment as for every peer.
"""

import base64
import hashlib
import json
import os
import socket
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before ONNX Runtime loads

import numpy as np  # noqa: E402
import onnxruntime as ort  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import Depends, FastAPI, Header, HTTPException, Request  # noqa: E402
from fastapi.responses import JSONResponse  # noqa: E402

from features import UnitError, history_rows, session_row  # noqa: E402
from schema import Prediction, PredictionRequest  # noqa: E402

KEY_DIGEST = os.environ["BENCH_KEY_DIGEST"]
MODEL = os.environ["BENCH_MODEL"]

with open(os.path.join(MODEL, "manifest.json"), encoding="utf-8") as file:
    MANIFEST = json.load(file)


def open_graph(name: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    path = os.path.join(MODEL, MANIFEST["graphs"][name]["file"])
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


base = open_graph("base")
history = open_graph("history")
thresholds = MANIFEST["thresholds"]
app = FastAPI(openapi_url=None)


async def check_key(x_api_key: str = Header(default="")) -> None:
    if not x_api_key:
        raise HTTPException(401, "Invalid or missing API key")
    digest = base64.urlsafe_b64encode(hashlib.sha256(x_api_key.encode()).digest()).rstrip(b"=").decode()
    if digest != KEY_DIGEST:
        raise HTTPException(403, "Invalid or missing API key")


@app.exception_handler(UnitError)
async def refuse_unit(_request: Request, error: UnitError) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 422)


@app.post("/predict", dependencies=[Depends(check_key)])
async def predict(request: PredictionRequest) -> Prediction:
    past = request.past_sessions or []
    targets = request.past_targets or request.past_target or []
    if len(past) != len(targets):
        raise HTTPException(422, "past_sessions and past_targets must have the same length")
    feeds = {"session": session_row(request.current_session)[np.newaxis]}
    if past:
        feeds |= history_rows(past, targets)
    start = time.perf_counter()
    (scores,) = (history if past else base).run(["scores"], feeds)
    elapsed_ms = (time.perf_counter() - start) * 1000
    return prediction(scores[0].tolist(), elapsed_ms)


def prediction(scores: list[float], elapsed_ms: float) -> Prediction:
    composite, attention, memory, reasoning, stress, valence, arousal = scores
    return Prediction(
        C_SCORE=round(composite, 2),
        attention=round(attention, 2),
        memory=round(memory, 2),
        reasoning=round(reasoning, 2),
        stress=round(stress, 2),
        valence="High" if valence >= thresholds["valence"] else "Low",
        arousal="High" if arousal >= thresholds["arousal"] else "Low",
        inference_time_ms=round(elapsed_ms, 2),
    )


def main() -> None:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    port = listener.getsockname()[1]
    print(json.dumps({"event": "listening", "pid": os.getpid(), "port": port}, separators=(",", ":")), flush=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


main()
