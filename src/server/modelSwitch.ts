import { messageOf } from '../base/errors.js';
import { ifPresent } from '../files/fileError.js';
import type { Files } from '../files/files.js';
import { errorFields, type Log } from '../process/log.js';
import { Observer } from '../base/observer.js';
import { loadBundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import type { EventLoopServer } from './eventLoopServer.js';

export interface ModelSwitchOptions {
  /** The configured folder; it may be a symbolic link whose target changes. */
  readonly folder: string;
  /** Its target when the model in force was loaded: the link may change while the service starts. */
  readonly loaded: string;
  /** A look is short; loading a model may take long. */
  readonly files: { readonly look: Files; readonly load: Files };
  readonly server: Pick<EventLoopServer, 'prepareModel' | 'switchModel'>;
  readonly log: Log;
}

/** Interval between looks at the folder. */
const LOOK_MS = 1_000;

/**
 * Changes the model of a running service. Loads the new one beside the old, checks it against its golden
 * scores and warms it up before it gets a request. If any of that fails, it is refused and the old one keeps
 * serving.
 */
export class ModelSwitch {
  private readonly observer: Observer;
  /** Version of the model switched to last; undefined before the first switch. */
  version: string | undefined;
  /** Why the folder's model was refused at the last load; undefined if it was not. */
  refusal: string | undefined;
  private isBusy = false;
  private isWanted = false;
  private isStopped = false;
  /** The folder's target at the last load, successful or not: a bad model is refused once. */
  private target: string | undefined;

  constructor(private readonly options: ModelSwitchOptions) {
    this.target = options.loaded;
    const onProblem = (error: Error): void => options.log.warn({ err: error }, 'model folder');
    this.observer = new Observer({ look: () => this.look(), onProblem }, LOOK_MS);
  }

  /** Loads the folder as it is now, at once or after the switch under way. */
  request(): void {
    this.isWanted = true;
    if (!this.isBusy) void this.run();
  }

  /** Call it when the service stops: a model under way is not put in force, and not reported as refused. */
  stop(): void {
    this.isStopped = true;
    this.observer.stop();
    this.isWanted = false;
  }

  private async look(): Promise<void> {
    const target = await this.resolve();
    if (target !== undefined && target !== this.target) this.request();
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    while (this.isWanted) {
      this.isWanted = false;
      await this.switchOnce();
    }
    this.isBusy = false;
  }

  private async switchOnce(): Promise<void> {
    const { folder, files, server, log } = this.options;
    try {
      this.target = await this.resolve();
      const bundle = await loadBundle(folder, files.load);
      // Event loops that have closed by now would start workers, and never end.
      if (this.isStopped) return;
      await server.prepareModel(bundle);
      if (this.isStopped) return; // the server closes it
      const retired = server.switchModel();
      const version = modelLabel(bundle.manifest);
      this.version = version;
      this.refusal = undefined;
      log.info({ version }, 'model switched');
      await retired;
    } catch (error) {
      if (this.isStopped) return;
      this.refusal = messageOf(error);
      log.error(errorFields(error), 'model refused, the old one keeps serving');
    }
  }

  /** Undefined while the folder is absent, for instance for a moment while a link is replaced. */
  private async resolve(): Promise<string | undefined> {
    return ifPresent(this.options.files.look.realPath(this.options.folder));
  }
}
