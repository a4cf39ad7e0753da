import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes } from '#acuity/load/connection.js';
import type { ServerProcess } from '#bench/server/process.js';
import { differenceOf, type Question } from './answers.js';

/** What was observed during the load: whole answers, and memory. */
export interface Samples {
  readonly answers: number;
  readonly wrong: readonly string[];
  readonly rssBytes: readonly number[];
}

interface SamplerQuestions {
  /** Empty for a server without scores: then only its memory is observed. */
  readonly questions: readonly Question[];
  /** Whether a 503 is an answer too. */
  readonly mayRefuse: boolean;
}

const REFUSED = 503;
const PERIOD_MS = 100;

/**
 * While a load runs, occasionally sends a request on its own connection and checks the whole answer: the load
 * generator sees only the status.
 */
export class Sampler {
  private readonly wrong: string[] = [];
  private readonly rssBytes: number[] = [];
  private answers = 0;
  private isOver = false;
  private readonly running: Promise<void>;

  constructor(
    private readonly server: ServerProcess,
    private readonly key: string,
    private readonly asked: SamplerQuestions,
  ) {
    this.running = this.run();
  }

  async finish(): Promise<Samples> {
    this.isOver = true;
    await this.running;
    const { answers, wrong, rssBytes } = this;
    return { answers, wrong, rssBytes };
  }

  private async run(): Promise<void> {
    const { port } = this.server;
    const { questions, mayRefuse } = this.asked;
    const connection = await Connection.open(port);
    try {
      for (let turn = 0; !this.isOver; turn++) {
        await sleep(PERIOD_MS);
        this.rssBytes.push(this.server.rssBytes());
        const question = questions[turn % questions.length];
        if (question === undefined) continue;
        const reply = await connection.send(requestBytes({ port, key: this.key }, question.body));
        this.answers++;
        if (mayRefuse && reply.status === REFUSED) continue;
        const difference = differenceOf(reply, question.expected);
        if (difference !== undefined) this.wrong.push(difference);
      }
    } catch (error) {
      this.wrong.push(`a sampled request failed: ${(error as Error).message}`);
    } finally {
      connection.close();
    }
  }
}
