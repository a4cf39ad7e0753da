import { messageOf } from '../base/errors.js';
import { Observer } from '../base/observer.js';
import { ifPresent } from '../files/fileError.js';
import type { Files } from '../files/files.js';
import { loadBundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import { errorFields, type Log } from '../process/log.js';
import type { EventLoopServer } from './eventLoopServer.js';

export interface ShadowSwitchOptions {
  /** The configured path: a folder, a link that comes to point elsewhere, or nothing for the time being. */
  readonly folder: string;
  readonly files: { readonly look: Files; readonly load: Files };
  readonly server: Pick<EventLoopServer, 'replaceShadow'>;
  readonly log: Log;
}

/** How often the folder is looked at. */
const LOOK_MS = 1_000;
/** A link that is replaced is absent for a moment: only what is absent at so many looks is gone. */
const ABSENT_LOOKS = 2;

/**
 * Sets, changes and removes the shadow model of a running service, as the path that names it comes, changes and goes.
 * A model that can't serve is refused, and the one before stays; no request is concerned.
 */
export class ShadowSwitch {
  /** Of the shadow model in force; undefined where there is none. */
  version: string | undefined;
  /** Why what the path names was refused; undefined where it was not. */
  refusal: string | undefined;
  private readonly observer: Observer;
  private target: string | undefined;
  private absentLooks = 0;
  private isForced = true;
  private isStopped = false;

  constructor(private readonly options: ShadowSwitchOptions) {
    const onProblem = (error: Error): void => options.log.warn({ err: error }, 'shadow model folder');
    this.observer = new Observer({ look: () => this.look(), onProblem }, LOOK_MS);
    void this.observer.look();
  }

  /** Loads what the path names as it is now, even where it is still the same folder. */
  request(): void {
    this.isForced = true;
    void this.observer.look();
  }

  /** The service stops: a model under way is not told as refused because of that. */
  stop(): void {
    this.isStopped = true;
    this.observer.stop();
  }

  private async look(): Promise<void> {
    const target = await ifPresent(this.options.files.look.realPath(this.options.folder));
    if (target === undefined) return this.miss();
    this.absentLooks = 0;
    if (target === this.target && !this.isForced) return;
    this.isForced = false;
    this.target = target; // a bad one is refused once
    await this.set(target);
  }

  private async miss(): Promise<void> {
    this.absentLooks++;
    if (this.absentLooks < ABSENT_LOOKS) return;
    this.target = undefined;
    this.refusal = undefined;
    if (this.version === undefined) return;
    this.version = undefined;
    await this.options.server.replaceShadow(undefined);
    this.options.log.info('shadow model removed');
  }

  private async set(folder: string): Promise<void> {
    const { files, server, log } = this.options;
    try {
      const bundle = await loadBundle(folder, files.load);
      await server.replaceShadow(bundle);
      this.version = modelLabel(bundle.manifest);
      this.refusal = undefined;
      log.info({ version: this.version }, 'shadow model in force');
    } catch (error) {
      if (this.isStopped) return;
      this.refusal = messageOf(error);
      log.error(errorFields(error), 'shadow model refused');
    }
  }
}
