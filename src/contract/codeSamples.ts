/** The same request in curl, TypeScript and Python. */
import type { PredictionRequestBody } from './request.js';

/** How to send a request, for readers of the API document. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/**
 * One request in curl and in both clients, to the service at `url`. The page /try loads this module as it is
 * compiled, so it imports nothing.
 */
export function codeSamples(request: PredictionRequestBody, url = 'http://127.0.0.1:8080'): CodeSample[] {
  const body = JSON.stringify(request, null, 2).replace(NUMBERS, (list) =>
    list.replace(/\s+/g, '').replaceAll(',', ', '),
  );
  return [
    {
      lang: 'Shell',
      label: 'curl',
      source: `export ACUITY_URL=${url} ACUITY_API_KEY=sk_demo_…
curl -s "$ACUITY_URL/predict" \\
  -H "X-API-Key: $ACUITY_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${body.replaceAll("'", `'\\''`)}'
`,
    },
    {
      lang: 'TypeScript',
      label: 'TypeScript',
      source: `import { AcuityClient } from 'acuity-client';

// ACUITY_URL and ACUITY_API_KEY give the address and the key.
const client = AcuityClient.fromEnvironment(process.env);
const { scores } = await client.predict(${body});
console.log(scores);
`,
    },
    {
      lang: 'Python',
      label: 'Python',
      source: `from acuity_client import AcuityClient

# ACUITY_URL and ACUITY_API_KEY give the address and the key.
with AcuityClient() as client:
    prediction = client.predict(${inPython(body).replaceAll('\n', '\n    ')})
    print(prediction.scores)
`,
    },
  ];
}

/** An array of numbers takes one line. */
const NUMBERS = /\[\n[-\d.,\s]+\]/g;

const CONSTANTS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** JSON is Python too, but for three words; in what `JSON.stringify` breaks into lines they end a line. */
function inPython(json: string): string {
  return json.replace(/(?<=^\s+|": )(true|false|null)(?=,?$)/gm, (word) => CONSTANTS[word] ?? word);
}
