import { messageOf } from '../base/errors.js';
import { Observer } from '../base/observer.js';
import { ifPresent } from '../files/fileError.js';
import type { Files } from '../files/files.js';
import { loadBundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import { errorFields, type Log } from '../process/log.js';
import type { EventLoopServer } from './eventLoopServer.js';

export interface ShadowSwitchOptions {
  /** The configured path: a folder, a link whose target changes, or nothing for the time being. */
  readonly folder: string;
  readonly files: { readonly look: Files; readonly load: Files };
  readonly server: Pick<EventLoopServer, 'replaceShadow'>;
  readonly log: Log;
}

/** Interval between looks at the folder. */
const LOOK_MS = 1_000;
/** A link that is replaced is absent for a moment: only a folder absent at this many looks is gone. */
const ABSENT_LOOKS = 2;

/**
 * Sets, changes and removes the shadow model of a running service, following the path that names it. A model
 * that can't serve is refused, and the one before stays. No request is affected.
 */
export class ShadowSwitch {
  /** Version of the shadow model in force; undefined if there is none. */
  version: string | undefined;
  /** Why the model at the path was refused; undefined if it was not. */
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

  /** Loads the model at the path as it is now, even if the folder is still the same. */
  request(): void {
    this.isForced = true;
    void this.observer.look();
  }

  /** Call it when the service stops: a model under way is not opened, and not reported as refused. */
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
      // Event loops that have closed by now would start workers, and never end.
      if (this.isStopped) return;
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
