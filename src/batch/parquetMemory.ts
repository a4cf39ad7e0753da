import { chunksOf, type Chunk, type Footer, type OpenFile } from './parquetFooter.js';
import { pageHeads } from './parquetPages.js';
import { TableError } from './tableError.js';

/** Most memory that reading one file may take; with everything else, the process stays below 1 GB. */
const MEMORY_MAX = 600 << 20;
const MIB = 1 << 20;

/** Which columns are read, and how. */
export interface ReadColumns {
  /** Page by page. */
  readonly lists: readonly string[];
  /** By a decoder that loads whole row groups. */
  readonly others: readonly string[];
}

/**
 * Most memory that reading a file takes, by its footer and page headers: a page's declared size is allocated before
 * its content is checked. @throws TableError if that is too much, with the remedy
 */
export function memoryOf(file: OpenFile, footer: Footer, { lists, others }: ReadColumns): number {
  const pages = lists.map((name) => largestPage(file, chunksOf(footer, [name], file).flat()));
  const group = largestGroup(file, footer, others);
  if (group > MEMORY_MAX) {
    throw tooLarge(`a row group of the columns ${others.join(', ')} takes`, group, 'row_group_size=20_000');
  }
  const plain = pages.reduce((sum, page) => sum + page.plain, 0);
  const packed = pages.reduce((most, page) => Math.max(most, page.plain + 2 * page.packed), 0);
  const memory = group + plain + packed;
  if (memory > MEMORY_MAX) {
    throw tooLarge(
      `pages of the columns ${lists.join(', ')} take`,
      memory,
      'data_page_size=1 << 20, row_group_size=20_000',
    );
  }
  return memory;
}

function tooLarge(what: string, bytes: number, option: string): TableError {
  return new TableError(
    `${what} ${Math.ceil(bytes / MIB)} MiB of memory, and ${MEMORY_MAX / MIB} MiB is the most: write the file anew with ` +
      `python3 -c 'import pyarrow.parquet as p; p.write_table(p.read_table("IN.parquet"), "OUT.parquet", ${option})'`,
  );
}

interface PageBytes {
  readonly plain: number;
  readonly packed: number;
}

function largestPage(file: OpenFile, chunks: readonly Chunk[]): PageBytes {
  let plain = 0;
  let packed = 0;
  for (const chunk of chunks) {
    for (const { header } of pageHeads(file, chunk)) {
      plain = Math.max(plain, header.uncompressed_page_size);
      packed = Math.max(packed, header.compressed_page_size);
    }
  }
  return { plain, packed };
}

/** A compressed chunk is copied once for the decoder; then come a dictionary and one page of each column. */
function largestGroup(file: OpenFile, footer: Footer, names: readonly string[]): number {
  const groups = footer.groups.map(() => 0);
  for (const name of names) {
    for (const [index, chunks] of chunksOf(footer, [name], file).entries()) {
      for (const chunk of chunks) {
        const { plain } = largestPage(file, [chunk]);
        groups[index] = (groups[index] ?? 0) + 2 * (chunk.end - chunk.start) + 2 * plain;
      }
    }
  }
  return groups.reduce((most, bytes) => Math.max(most, bytes), 0);
}
