import t from 'tap';
import { sampledParent } from '#acuity/http/tracedRequest.js';

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const parentIn = (header: string) => sampledParent(header.replace('T', TRACE).replace('S', SPAN));

t.test('the parent of a sampled request, of other flags beside it and of later versions too', async (t) => {
  for (const header of ['00-T-S-01', '00-T-S-03', '00-T-S-ff', 'cc-T-S-01-what the future will be like'])
    t.strictSame(parentIn(header), { traceId: TRACE, spanId: SPAN });
});

t.test('of all others there is none', async (t) => {
  const headers = [
    ...'|x|00-T-S-00|00-T-S-02|00-T-S-1|00-T-S-01-more|cc-T-S-01more|ff-T-S-01|0-T-S-01|00-Tx-S-01| 00-T-S-01'.split(
      '|',
    ),
    `${'0'.repeat(10_000)}1`,
    `00-${TRACE.toUpperCase()}-S-01`,
    `00-${'0'.repeat(32)}-S-01`,
    `00-T-${'0'.repeat(16)}-01`,
  ];
  for (const header of headers) t.equal(parentIn(header), undefined, header.slice(0, 70));
});
