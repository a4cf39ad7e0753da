import t from 'tap';
import { sampledParent } from '#acuity/tracing/tracedRequest.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const parent = { traceId: TRACE, spanId: SPAN };

t.test('the parent of a sampled request', async (t) => {
  t.strictSame(sampledParent(`00-${TRACE}-${SPAN}-01`), parent);
  t.strictSame(sampledParent(`00-${TRACE}-${SPAN}-03`), parent, 'other flags beside it');
  t.strictSame(sampledParent(`00-${TRACE}-${SPAN}-ff`), parent);
  t.strictSame(
    sampledParent(`cc-${TRACE}-${SPAN}-01-what the future will be like`),
    parent,
    'a later version',
  );
});

t.test('of all others there is none', async (t) => {
  const headers = [
    '',
    'x',
    `00-${TRACE}-${SPAN}-00`,
    `00-${TRACE}-${SPAN}-02`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `cc-${TRACE}-${SPAN}-01more`,
    `ff-${TRACE}-${SPAN}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}x-${SPAN}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `${'0'.repeat(10_000)}1`,
  ];
  for (const header of headers) t.equal(sampledParent(header), undefined, header.slice(0, 70));
});
