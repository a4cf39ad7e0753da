import { DataType, RecordBatch, Schema, Struct, makeData, type Field } from 'apache-arrow';
import { decodedType } from './decodeColumns.js';
import type { InputNames } from './inputNames.js';
import type { HistoryColumns, RowColumns } from './rowColumns.js';
import { partitionField } from './tablePartitions.js';

/** The names of a table's columns, and what each can be used for, from its schema. */
export function namesOfSchema({ fields }: Schema): InputNames {
  const names = fields.map(({ name }) => name);
  return {
    thing: 'column',
    kinds: { request: [], session: names, target: [], measurement: [] },
    beside: names,
    unfit(name, as) {
      const type = fields.find((field) => field.name === name)?.type as DataType | undefined;
      if (type === undefined || TYPES[as].isFit(plainType(type))) return undefined;
      return `the column ${name} is of the type ${String(type)}, which ${TYPES[as].advice(type)}`;
    },
  };
}

const TYPES: Readonly<
  Record<keyof HistoryColumns, { isFit(type: DataType): boolean; advice(type: DataType): string }>
> = {
  person: {
    isFit: (type) => isText(type) || DataType.isInt(type) || DataType.isNull(type),
    advice: (type) =>
      `can't say whose a row is: make text or whole numbers of it${DataType.isFloat(type) ? ' (pandas makes floats of whole numbers beside missing ones: astype("Int64"))' : ''}`,
  },
  order: {
    isFit: (type) =>
      isText(type) ||
      DataType.isInt(type) ||
      DataType.isFloat(type) ||
      DataType.isTimestamp(type) ||
      DataType.isDate(type) ||
      DataType.isNull(type),
    advice: () =>
      "can't say when a row was: make a timestamp of it, a date, milliseconds since 1970, or text of ISO 8601",
  },
};

function isText(type: DataType): boolean {
  return DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type);
}

/** The type of the values, if a column stores them in a dictionary. */
function plainType(type: DataType): DataType {
  return decodedType(type) ?? type;
}

/** The kept columns without rows, as in `TableRows`; undefined if there are none. */
export function emptyColumns(schema: Schema, { keep, partitions = [] }: RowColumns): RecordBatch | undefined {
  const fields: Field[] = [...schema.fields, ...partitions.map((partition) => partitionField(partition))];
  const kept = keep.flatMap((name): Field[] => fields.filter((field) => field.name === name).slice(0, 1));
  if (kept.length === 0) return undefined;
  const plain = kept.map((field) => field.clone({ type: plainType(field.type as DataType) }));
  const children = plain.map(({ type }) => makeData({ type: type as DataType }));
  const data = makeData({ type: new Struct(plain), length: 0, nullCount: 0, children });
  return new RecordBatch(new Schema(plain), data);
}
