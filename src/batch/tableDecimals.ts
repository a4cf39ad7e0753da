import { DataType, RecordBatch, Struct, makeData, type Data, type Decimal, type Field } from 'apache-arrow';

/** A decimal of a column as the nearest number; `words` are its digits without the point, lowest word first. */
export function decimalOf(words: Uint32Array, { scale, bitWidth }: Decimal): number {
  const digits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return Number(`${BigInt.asIntN(bitWidth, digits)}e${-scale}`);
}

/** A batch from arrow-js-ffi, which assumes one word for each decimal, with all words restored. */
export function wholeDecimals(batch: RecordBatch): RecordBatch {
  if (!batch.schema.fields.some(({ type }) => holdsDecimals(type))) return batch;
  const children = batch.data.children.map((data) => wholeData(data));
  const { length } = batch.data;
  const type = new Struct(batch.schema.fields);
  return new RecordBatch(batch.schema, makeData({ type, length, nullCount: 0, children }));
}

function holdsDecimals(type: DataType): boolean {
  const inner: readonly Field[] = (type.children as Field[] | null) ?? [];
  return DataType.isDecimal(type) || inner.some((field) => holdsDecimals(field.type as DataType));
}

function wholeData(data: Data): Data {
  const { type, offset, length, nullCount, nullBitmap } = data;
  if (!DataType.isDecimal(type)) {
    if (!holdsDecimals(type)) return data;
    return data.clone(
      type,
      offset,
      length,
      nullCount,
      undefined,
      data.children.map((child) => wholeData(child)),
    );
  }
  const { buffer, byteOffset } = data.values as Uint32Array;
  const words = new Uint32Array(buffer, byteOffset, (length * type.bitWidth) / 32);
  return makeData({ type, offset, length, nullCount, nullBitmap, data: words });
}
