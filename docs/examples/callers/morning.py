import json, os, pathlib, sys, urllib.request

stored = pathlib.Path(sys.argv[1])  # the person's history: empty before the first night
recording = json.loads(pathlib.Path("docs/examples/callers/oura.json").read_text())
session = {"recording": recording, "age": 34, "sex": "F"}
history = stored.read_text() if stored.exists() else ""
call = urllib.request.Request(
    os.environ["ACUITY_URL"] + "/predict",
    json.dumps({"current_session": session, "history": history, "explain": True}).encode(),
    {"X-API-Key": os.environ["ACUITY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(call, timeout=10) as answer:  # an HTTPError's read() says what is wrong
    said = json.load(answer)
stored.write_text(said["history"])
print(said["recording"]["night"], said["explanation"]["scores"]["stress"]["text"], sep="\n")
