import { messageOf } from '../base/errors.js';
import { Observer } from '../base/observer.js';
import { ifPresent } from '../base/files/fileError.js';
import type { Files } from '../base/files/files.js';
import { loadBundle, type Bundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import { errorFields, type Log } from '../base/process/log.js';

/**
 * Follows the path that names a model of a running service: another target, or a request, loads what lies there now. A
 * model that can't serve is refused once, until its files change, and the one before stays. No request is affected.
 */
export class ModelFolder {
  /** Version of the model that was put in force last; undefined if there is none. */
  version: string | undefined;
  /** Why the model at the path was refused; undefined if it was not. */
  refusal: string | undefined;
  private readonly observer: Observer;
  private target: string | undefined;
  /** Signatures of the folder: when its model was read, and at the last look since that was refused. */
  private read: string | undefined;
  private seen: string | undefined;
  private absentLooks = 0;
  private isWanted: boolean;
  private isStopped = false;

  constructor(private readonly options: ModelFolderOptions) {
    const { loaded, log, role } = options;
    this.target = loaded;
    this.isWanted = loaded === undefined;
    const onProblem = (error: Error): void => log.warn({ err: error }, `${role} folder`);
    this.observer = new Observer({ look: () => this.look(), onProblem }, LOOK_MS);
    if (this.isWanted) void this.observer.look();
  }

  /** Loads the model at the path as it is now, even if the folder is still the same. */
  request(): void {
    this.isWanted = true;
    void this.observer.look();
  }

  /** Call it when the service stops: a model under way is not put in force, and not reported as refused. */
  stop(): void {
    this.isStopped = true;
    this.observer.stop();
  }

  private async look(): Promise<void> {
    const { folder, files, remove } = this.options;
    const target = await ifPresent(files.look.realPath(folder));
    // A request for a folder that is not there is answered in the log, unless its absence has a meaning.
    if (target === undefined && !(this.isWanted && remove === undefined)) return this.miss();
    this.absentLooks = 0;
    if (target === this.target && !this.isWanted && !(await this.isMended(folder))) return;
    this.isWanted = false;
    this.target = target;
    await this.set(target ?? folder);
  }

  /** Whether a refused model has changed; not while its files still do, as they are being copied. */
  private async isMended(folder: string): Promise<boolean> {
    if (this.refusal === undefined) return false;
    const { seen } = this;
    this.seen = await this.signature(folder);
    return this.seen !== this.read && this.seen === seen;
  }

  /** Undefined if the folder can't be listed; reading it says why, if that fails too. */
  private signature(folder: string): Promise<string | undefined> {
    return this.options.files.look.folderSignature(folder).catch(() => undefined);
  }

  private async miss(): Promise<void> {
    const { remove, log, role } = this.options;
    this.absentLooks++;
    if (remove === undefined || this.absentLooks < ABSENT_LOOKS) return;
    this.target = undefined;
    this.refusal = undefined;
    if (this.version === undefined) return;
    this.version = undefined;
    await remove();
    log.info(`${role} removed`);
  }

  private async set(folder: string): Promise<void> {
    const { files, log, role } = this.options;
    const isStopped = (): boolean => this.isStopped;
    try {
      this.read = await this.signature(folder);
      const bundle = await loadBundle(folder, files.load);
      // Event loops that have closed by now would start workers, and never end.
      if (this.isStopped) return;
      const { retired } = await this.options.use(bundle, isStopped);
      if (this.isStopped) return;
      this.version = modelLabel(bundle.manifest);
      this.refusal = undefined;
      log.info({ version: this.version }, `${role} in force`);
      await retired;
    } catch (error) {
      if (this.isStopped) return;
      this.refusal = messageOf(error);
      log.error(errorFields(error), `${role} refused, the old one stays`);
    }
  }
}

export interface ModelFolderOptions {
  /** The configured path: a folder, or a link whose target changes. */
  readonly folder: string;
  /** Its target when the model in force was loaded: the link may change while the service starts. */
  readonly loaded?: string;
  /** A look is short; loading a model may take long. */
  readonly files: { readonly look: Files; readonly load: Files };
  /**
   * Puts a model in force, unless `isStopped` by then. Rejects, and changes nothing, if it can't serve.
   * @returns the retirement of the model before, if that takes time
   */
  use(bundle: Bundle, isStopped: () => boolean): Promise<{ readonly retired: Promise<void> }>;
  /** Called when the folder is gone. Absent: the model then stays in force. */
  remove?(): Promise<void>;
  /** The first words of each log line: what the model is. */
  readonly role: 'model' | 'shadow model';
  readonly log: Log;
}

/** Interval between looks at the folder. */
const LOOK_MS = 1_000;
/** A link that is replaced is absent for a moment: only a folder absent at this many looks is gone. */
const ABSENT_LOOKS = 2;
