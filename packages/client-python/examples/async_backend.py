"""Many people at once on one event loop."""

import asyncio
import json

from acuity_client import AsyncAcuityClient, AsyncHistory, MemoryStorage, SessionBuilder


async def main() -> None:
    with open("docs/examples/wearable.json", encoding="utf-8") as file:
        night = json.load(file)
    builder = SessionBuilder(night["at"]).heart_rate(night["heartRate"]).sleep_stages(night["stages"])
    async with AsyncAcuityClient() as client:
        history = AsyncHistory(client, MemoryStorage())
        people = [f"person-{number}" for number in range(20)]
        session, date = builder.build(), builder.woke_on()
        scorings = (history.score(person, night["at"], session, night=date) for person in people)
        predictions = await asyncio.gather(*scorings)
    print(len(predictions), "scored by model", predictions[0].model_version)


asyncio.run(main())
