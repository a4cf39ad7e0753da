import {
  Binary,
  DataType,
  Field,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  Vector,
  makeData,
  vectorFromArray,
  type Data,
} from 'apache-arrow';

/**
 * Converts columns to forms that can be cut into pieces and written in every format: dictionaries become values,
 * since a file may not have two of them; texts and bytes in views become contiguous, since the Arrow library cuts
 * views at the wrong place.
 */
export function decodeColumns(batch: RecordBatch): RecordBatch {
  const children = batch.data.children.map((data) => plainData(data));
  // Take the type from the data: a decoder may have turned large text into plain text.
  const fields = batch.schema.fields.map(
    ({ name, nullable, metadata, type }, place) =>
      new Field(name, children[place]?.type ?? type, nullable, metadata),
  );
  const { length } = batch.data;
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields, batch.schema.metadata), data);
}

function plainData(data: Data): Data {
  const type = decodedType(data.type);
  if (type === undefined) return data;
  const [plain] = vectorFromArray([...new Vector([data])], type).data;
  return plain ?? data;
}

/** The type after decoding; undefined if the column stays as it is. */
export function decodedType(type: DataType): DataType | undefined {
  if (DataType.isUtf8View(type)) return new Utf8();
  if (DataType.isBinaryView(type)) return new Binary();
  if (!DataType.isDictionary(type)) return undefined;
  // The Parquet decoder gives a field where a type belongs.
  const inner: unknown = type.dictionary;
  const values = inner instanceof Field ? (inner.type as DataType) : (inner as DataType);
  return DataType.isLargeUtf8(values) ? new Utf8() : (decodedType(values) ?? values);
}
