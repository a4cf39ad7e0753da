import { messageOf } from '../base/errors.js';
import { ifPresent } from '../files/fileError.js';
import type { Files } from '../files/files.js';
import { errorFields, type Log } from '../process/log.js';
import { Observer } from '../base/observer.js';
import { loadBundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import type { EventLoopServer } from './eventLoopServer.js';

export interface ModelSwitchOptions {
  /** The configured folder; it may be a symbolic link that comes to point elsewhere. */
  readonly folder: string;
  /** Where it led when the model in force was loaded: a link may be turned while the service starts. */
  readonly loaded: string;
  /** A look is short; loading a model may take its time. */
  readonly files: { readonly look: Files; readonly load: Files };
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
  private readonly observer: Observer;
  /** Of the model that was switched to last; undefined before the first switch. */
  version: string | undefined;
  /** Why the folder's model was refused when it was loaded last; undefined where it was not. */
  refusal: string | undefined;
  private isBusy = false;
  private isWanted = false;
  private isStopped = false;
  /** Where the folder pointed when it was loaded last, well or not: a bad one is refused once. */
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

  /** The service stops: a model under way is not put in force, and not told as refused because of that. */
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

  /** Undefined while the folder is absent, as for a moment when a link is replaced. */
  private async resolve(): Promise<string | undefined> {
    return ifPresent(this.options.files.look.realPath(this.options.folder));
  }
}
