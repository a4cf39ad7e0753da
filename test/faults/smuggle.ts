import { messageOf } from '#acuity/base/errors.js';
import { seededRandom, type Random } from '#acuity/base/random.js';
import { Connection, requestBytes, type Reply } from '#acuity/tune/load/connection.js';
import { leftBehind } from '#fixtures/promtool.js';
import {
  HAPROXY,
  HAPROXY_OF_DEBIAN_13,
  WITHOUT_NGINX,
  startPlainHaproxy,
  startPlainNginx,
  type PlainProxy,
} from '#fixtures/proxies.js';
import type { Teardown } from '#fixtures/repository.js';
import { startServer, type RunningServer } from '#fixtures/server.js';
import { knownAnswers, requestIdOf, wrongAnswer, type KnownAnswer } from './knownAnswers.js';
import { scoped, Trial, type Form, type Part } from './part.js';
import { over1, over2, refusable, smuggled, type Send, type Senders } from './smugglers.js';

/**
 * Whether a caller ever gets another one's answer if both use the same proxy, and one sends chunked bodies with
 * trailers that look like requests.
 */

const VICTIMS = 40;
const ATTACKERS = 16;
/** Callers whose chunked uploads are refused. */
const REFUSED = 4;
const MS: Readonly<Record<Form, number>> = { short: 5_000, long: 60_000 };
const BODY_BYTES_MAX = 100_000;

interface Setting {
  readonly name: string;
  readonly skip: string | false;
  /** Of the attacks. */
  readonly versions: readonly (1 | 2)[];
  /** Too long for the tests, even where it is available. */
  readonly isLongOnly?: boolean;
  start(scope: Teardown, servicePort: number): Promise<PlainProxy>;
}

const SETTINGS: readonly Setting[] = [
  { name: 'HAProxy', skip: HAPROXY.skip, versions: [1], start: startPlainHaproxy },
  { name: 'HAProxy, HTTP/2', skip: HAPROXY.skip, versions: [2], start: startPlainHaproxy },
  {
    name: 'HAProxy of Debian 13',
    skip: HAPROXY_OF_DEBIAN_13.skip,
    versions: [1, 2],
    isLongOnly: true,
    start: (t, port) => startPlainHaproxy(t, port, HAPROXY_OF_DEBIAN_13),
  },
  { name: 'nginx', skip: WITHOUT_NGINX, versions: [1], start: startPlainNginx },
];

export const smuggle: Part = {
  name: 'smuggle',
  about: `${VICTIMS} callers and ${ATTACKERS} attackers, whose trailers look like requests, through one proxy`,
  beyond: 'real proxies, and where they see the end of a request',
  async run(scope, { form, seed, say }) {
    const env = { ACUITY_LOG_LEVEL: 'fatal', ACUITY_BODY_MAX_BYTES: String(BODY_BYTES_MAX) };
    const server = await startServer(scope, { env });
    const known = await knownAnswers(server, VICTIMS, seed);
    const trials: Trial[] = [];
    for (const setting of SETTINGS) {
      if (form === 'short' && setting.isLongOnly) continue;
      say(setting.name);
      if (setting.skip !== false) trials.push(new Trial(setting.name).with({ skipped: setting.skip }));
      else
        trials.push(
          ...(await scoped(async (scope) => {
            const proxy = await setting.start(scope, server.port);
            return new SmuggleRun(setting, proxy, { server, known, seed, ms: MS[form] }).trials();
          })),
        );
    }
    return [...trials, new Trial('nothing is left behind').add(await leftBehind(server))];
  },
};

interface Attacked {
  readonly server: RunningServer;
  readonly known: readonly KnownAnswer[];
  readonly seed: number;
  readonly ms: number;
}

class SmuggleRun {
  private readonly answers: Trial;
  private readonly refusals: Trial;
  /** Answers meant for another caller. */
  private others = 0;
  private attacks = 0;
  private readonly senders: Senders;
  private readonly endsMs: number;

  constructor(
    private readonly setting: Setting,
    private readonly proxy: PlainProxy,
    private readonly attacked: Attacked,
  ) {
    this.answers = new Trial(`${setting.name}: answers`);
    this.refusals = new Trial(`${setting.name}: refusals of chunked uploads`);
    this.senders = { key: attacked.server.key, bodyBytesMax: BODY_BYTES_MAX };
    this.endsMs = performance.now() + attacked.ms;
  }

  async trials(): Promise<Trial[]> {
    const { known, seed } = this.attacked;
    const { versions } = this.setting;
    const version = (index: number): 1 | 2 => versions[index % versions.length] ?? 1;
    const randomOf = (index: number): Random => seededRandom(seed * 1_000 + index);
    await Promise.all([
      ...known.map((answer, index) => this.ask(answer, `victim-${index}`)),
      ...Array.from({ length: ATTACKERS }, (_, index) => this.attack(randomOf(index), version(index), index)),
      ...Array.from({ length: REFUSED }, (_, index) =>
        this.upload(randomOf(ATTACKERS + index), version(index), index),
      ),
    ]);
    const figure = `${this.attacks} attacks, ${this.others} answers of others`;
    return [this.answers.with({ figure }), this.refusals];
  }

  private get isOver(): boolean {
    return performance.now() > this.endsMs;
  }

  /** A caller with one body whose correct answer is known. */
  private async ask(known: KnownAnswer, name: string): Promise<void> {
    const { port } = this.proxy;
    let connection = await Connection.open(port);
    for (let count = 0; !this.isOver; count++) {
      const id = `${name}-${count}`;
      const request = requestBytes({ port, key: this.attacked.server.key }, known.body, id);
      const failure = await connection.send(request).then(
        (reply) => this.wrong(reply, id, known),
        (error: unknown) => `${messageOf(error)}: ${id}`,
      );
      this.answers.add(failure);
      if (failure === undefined && connection.isOpen) continue;
      connection.close();
      connection = await Connection.open(port);
    }
    connection.close();
  }

  private wrong(reply: Reply, id: string, known: KnownAnswer): string | undefined {
    const wrong = reply.status === 200 ? wrongAnswer(reply, id, known) : `${reply.status} came to ${id}`;
    // The proxy's own answers have no request id.
    if (wrong !== undefined && requestIdOf(reply) !== '') this.others++;
    return wrong;
  }

  private async attack(random: Random, version: 1 | 2, attacker: number): Promise<void> {
    await this.sending(version, async (send) => {
      await send(smuggled(random, this.senders, `attacker-${attacker}-${this.attacks++}`));
    });
  }

  /** Uploads that are refused: each refusal must arrive, at the right caller. */
  private async upload(random: Random, version: 1 | 2, caller: number): Promise<void> {
    let count = 0;
    await this.sending(version, async (send) => {
      const id = `upload-${caller}-${count++}`;
      const { upload, status } = refusable(random, this.senders, id);
      const told = await send(upload);
      const isRight = told?.status === status && told.id === id;
      this.refusals.add(isRight ? undefined : `${told?.status} for ${told?.id}, not ${status} for ${id}`);
    });
  }

  private async sending(version: 1 | 2, act: (send: Send) => Promise<void>): Promise<void> {
    const { port, http2Port = port } = this.proxy;
    const { send, close } = version === 1 ? over1(port) : over2(http2Port);
    try {
      while (!this.isOver) await act(send);
    } finally {
      close();
    }
  }
}
