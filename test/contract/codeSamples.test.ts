import t from 'tap';
import { codeSamples } from '#acuity/contract/codeSamples.js';
import type { PredictionRequestBody } from '#acuity/contract/request.js';
import { ended, lacking } from '../fixtures/scripts.js';

/** As somebody may paste it: a shell must run none of it, and each language must read it as it is. */
const HOSTILE = {
  current_session: {
    recording: {
      provider: 'oura',
      device: `Anna's Watch'; echo run >&2; echo '$(echo run >&2)\`echo run >&2\`\\ "x": null`,
      items: [null, 58, true],
    },
    age: 34,
  },
} as unknown as PredictionRequestBody;
const [shell, , python] = codeSamples(HOSTILE).map(({ source }) => source);

t.test('the copied curl line runs nothing of a pasted text, and sends it as it is', async (t) => {
  const printing = 'curl() { printf %s "${@: -1}"; }\n';
  const { code, stdout, stderr } = await ended('bash', ['-c', `${printing}${shell}`], { cwd: '/' });
  t.strictSame([code, stderr], [0, '']);
  t.strictSame(JSON.parse(stdout), HOSTILE);
});

const PRINTED = `
import ast, json, sys
call = next(n for n in ast.walk(ast.parse(sys.stdin.read())) if getattr(getattr(n, "func", 0), "attr", "") == "predict")
print(json.dumps(ast.literal_eval(call.args[0])))`;

const skip = lacking('python3 --version', 'python3');

t.test('the Python has the request as it is', { skip }, async (t) => {
  const { stdout, stderr } = await ended('python3', ['-c', PRINTED], { cwd: '/', input: python ?? '' });
  t.equal(stderr, '');
  t.strictSame(JSON.parse(stdout), HOSTILE);
});
