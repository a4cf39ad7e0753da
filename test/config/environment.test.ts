import t from 'tap';
import { environment, prepareEnvironment } from '#acuity/config/options.js';

t.test('the telemetry of ONNX Runtime is off, even if the operator set it', async (t) => {
  process.env['ORT_DISABLE_TELEMETRY'] = '0';
  prepareEnvironment();
  t.equal(environment()['ORT_DISABLE_TELEMETRY'], '1');
});

t.test('the longest request head is set unless the operator set it', async (t) => {
  delete process.env['UWS_HTTP_MAX_HEADERS_SIZE'];
  prepareEnvironment();
  t.equal(environment()['UWS_HTTP_MAX_HEADERS_SIZE'], '16384');
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '8192';
  prepareEnvironment();
  t.equal(environment()['UWS_HTTP_MAX_HEADERS_SIZE'], '8192');
});
