import { realpath } from 'node:fs/promises';
import type { Log } from '../base/log.js';
import { loadBundle } from '../model/bundle.js';
import type { EventLoopServer } from './eventLoopServer.js';

export interface ModelSwitchOptions {
  /** The configured folder; it may be a symbolic link that comes to point elsewhere. */
  readonly folder: string;
  readonly server: Pick<EventLoopServer, 'prepareModel' | 'switchModel'>;
  readonly log: Log;
}

/** How often the folder is looked at. */
const LOOK_MS = 1_000;

/**
 * Changes the model of a running service. The new one is loaded beside the old, checked against its golden
 * scores and warmed up before it gets a request; one that fails is refused and the old one keeps serving.
 */
export class ModelSwitch {
  private readonly timer: NodeJS.Timeout;
  /** Of the model that was switched to last; undefined before the first switch. */
  version: string | undefined;
  private isBusy = false;
  private isWanted = false;
  /** Where the folder pointed when it was loaded last, well or not: a bad one is refused once. */
  private target: string | undefined;

  constructor(private readonly options: ModelSwitchOptions) {
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** Loads the folder as it is now, at once or after the switch under way. */
  request(): void {
    this.isWanted = true;
    if (!this.isBusy) void this.run();
  }

  stop(): void {
    clearInterval(this.timer);
    this.isWanted = false;
  }

  private async look(): Promise<void> {
    const target = await this.resolve();
    if (this.target === undefined) this.target = target;
    if (target !== undefined && target !== this.target) this.request();
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    while (this.isWanted) {
      this.isWanted = false;
      this.target = await this.resolve();
      await this.switchOnce();
    }
    this.isBusy = false;
  }

  private async switchOnce(): Promise<void> {
    const { folder, server, log } = this.options;
    try {
      const bundle = await loadBundle(folder);
      await server.prepareModel(bundle);
      const retired = server.switchModel();
      const { version } = bundle.manifest;
      this.version = version;
      log.info({ version }, 'model switched');
      await retired;
    } catch (error) {
      log.error({ err: error }, 'model refused, the old one keeps serving');
    }
  }

  /** Undefined while the folder is absent, as for a moment when a link is replaced. */
  private async resolve(): Promise<string | undefined> {
    return realpath(this.options.folder).catch(() => undefined);
  }
}
