import uWS from 'uWebSockets.js';
import { announce } from './settings.js';

/**
 * The cost of HTTP alone: reads the body to its end and answers with a constant of the usual length. It does nothing
 * else, so no server that answers requests in this runtime can be cheaper.
 */
const ANSWER = JSON.stringify({
  C_SCORE: 50.12,
  attention: 49.87,
  memory: 51.03,
  reasoning: 50.44,
  stress: 48.91,
  valence: 'High',
  arousal: 'Low',
  inference_time_ms: 0.12,
});

const app = uWS.App().post('/predict', (res) => {
  res.onAborted(() => undefined);
  res.onData((_chunk, isLast) => {
    if (!isLast) return;
    res.cork(() => {
      res.writeHeader('Content-Type', 'application/json');
      res.end(ANSWER);
    });
  });
});

const path = process.env['BENCH_SOCKET'];
const onListening = (socket: uWS.us_listen_socket | false): void => {
  if (!socket) throw new Error('no port or path to listen on');
  announce(path === undefined ? uWS.us_socket_local_port(socket) : null);
};
if (path === undefined) app.listen('127.0.0.1', 0, onListening);
else app.listen_unix(onListening, path);
