/**
 * The text of src/records/layout.ts: every constant that the compiled parser exports, so that code that only needs
 * the layout need not load it. `npm run docs` writes the file; test/scripts/ruleTables.test.ts compares it
 * with the parser.
 * @param {Uint8Array} parser  the compiled module
 */
export function recordLayout(parser) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(parser), { env: { abort() {} } });
  const lines = Object.entries(exports)
    .filter(([, value]) => value instanceof WebAssembly.Global)
    .map(([name, { value }]) => `  ${name}: ${value},\n`);
  return `/** Where things lie in the parser's memory, in bytes. Generated from assembly/layout.ts by \`npm run docs\`. */
export const LAYOUT = {
${lines.join('')}} as const;
`;
}
