import type { PredictionRequestBody } from './request.js';

/** How a request is sent, for who reads the API document. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** One request in curl and with the two clients: what JSON writes is an object of TypeScript and of Python as well. */
export function codeSamples(request: PredictionRequestBody): CodeSample[] {
  const body = JSON.stringify(request, null, 2);
  return [
    {
      lang: 'Shell',
      label: 'curl',
      source: `export ACUITY_URL=http://127.0.0.1:8080 ACUITY_API_KEY=sk_demo_…
curl -s "$ACUITY_URL/predict" \\
  -H "X-API-Key: $ACUITY_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${body}'
`,
    },
    {
      lang: 'TypeScript',
      label: 'TypeScript',
      source: `import { AcuityClient } from 'acuity-client';

// ACUITY_URL and ACUITY_API_KEY say where and with which key.
const client = AcuityClient.fromEnvironment(process.env);
const { scores } = await client.predict(${body});
console.log(scores);
`,
    },
    {
      lang: 'Python',
      label: 'Python',
      source: `from acuity_client import AcuityClient

# ACUITY_URL and ACUITY_API_KEY say where and with which key.
with AcuityClient() as client:
    prediction = client.predict(${body.replaceAll('\n', '\n    ')})
    print(prediction.scores)
`,
    },
  ];
}
