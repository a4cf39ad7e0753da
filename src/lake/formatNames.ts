export const FORMATS = ['ndjson', 'csv', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

const ENDINGS: Readonly<Record<string, Format>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'ndjson',
  csv: 'csv',
  arrow: 'arrow',
  arrows: 'arrow',
  feather: 'arrow',
  ipc: 'arrow',
  parquet: 'parquet',
};

/** A file's name without its format suffixes, and the format. */
export interface NamedFormat {
  readonly stem: string;
  readonly format: Format | undefined;
  readonly compression: 'gzip' | 'zstd' | undefined;
}

export function formatOf(name: string): NamedFormat {
  const [, inner = name, packed] = /^(.*)\.(gz|zst|zstd)$/i.exec(name) ?? [];
  const [, stem = inner, ending = ''] = /^(.*)\.([^.]+)$/.exec(inner) ?? [];
  const format = ENDINGS[ending.toLowerCase()];
  const compression = packed === undefined ? undefined : packed.toLowerCase() === 'gz' ? 'gzip' : 'zstd';
  return { stem: format === undefined ? inner : stem, format, compression };
}

/** Whether a name is an address of a store, not a path. */
export function isRemote(name: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
}
