import csv

from acuity_client import AcuityClient, History, MemoryStorage, SessionBuilder

with open("docs/examples/adapters/night.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
of = {
    name: [(row["from"], float(row["value"])) for row in rows if row["what"] == name]
    for name in ("heart", "breath")
}
stages = [(row["what"], row["from"], row["to"]) for row in rows if row["to"]]
at = "2026-03-02T06:30:00Z"
builder = (
    SessionBuilder(at)
    .heart_rate(of["heart"])
    .respiratory_rate(of["breath"])
    .sleep_stages(stages)
)
with AcuityClient() as client:
    history = History(client, MemoryStorage())
    print(history.score("person-1", at, builder.build(), night="2026-03-02").scores)
