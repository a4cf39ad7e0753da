import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { AcuityClient, History } from 'acuity-client';
import { questionsFrom } from './measuring.js';
import { backend } from './server.js';
import { sqliteStore } from './sqliteStore.js';

const { env } = process;
const store = sqliteStore(env['DATABASE_FILE'] ?? 'data/nights.db');
const client = AcuityClient.fromEnvironment(env);
const server = backend({
  store,
  history: new History(client, store),
  client,
  secret: env['TERRA_SIGNING_SECRET'],
  zone: env['TERRA_ZONE'],
  questions: questionsFrom(env['PSS10_QUESTIONS']),
  reactionDelayMs: Number(env['REACTION_DELAY_MS'] ?? 0),
});
server.listen(Number(env['PORT'] ?? 8090), '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

const stop = () => {
  server.close(() => void Promise.all([client.close(), store.close()]));
  server.closeIdleConnections();
};
process.once('SIGTERM', stop).once('SIGINT', stop);
