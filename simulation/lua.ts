/**
 * The part of Lua that the store's scripts are written in, made JavaScript once for each script: the scripts that are
 * simulated are those that are shipped. What it does not know it refuses; a test holds it against a Redis.
 */

/** Runs a script: KEYS and ARGV from 1 on, as Lua counts. */
export type Script = (keys: readonly string[], args: readonly string[], call: Call) => unknown;
/** A command of the store; null is its nil. */
export type Call = (name: string, args: readonly string[]) => unknown;

type Value = unknown;

/** Of Lua: an array from 1 on, and everything else. */
class Table {
  /** Few have any. */
  fields: Map<unknown, Value> | undefined;

  constructor(readonly array: Value[]) {}
}

export function compile(source: string): Script {
  const body = new Compiler(source).chunk();
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const made = new Function('L', 'KEYS', 'ARGV', `"use strict";${body}`) as (
    library: object,
    keys: readonly string[],
    args: readonly string[],
  ) => Value;
  return (keys, args, call) => {
    library.callNow = call;
    return reply(made(library, keys, args));
  };
}

/** What the compiled scripts call; one script runs at a time. */
const library = {
  callNow: ((): unknown => undefined) as Call,
  call(name: string, ...args: Value[]): Value {
    for (let at = 0; at < args.length; at++) if (typeof args[at] !== 'string') args[at] = text(args[at]);
    return library.callNow(name, args as string[]) ?? false; // nil in a reply is false in Lua
  },
  index(of: Value, key: Value): Value {
    if (Array.isArray(of)) return of[(key as number) - 1];
    if (of instanceof Table) return typeof key === 'number' ? of.array[key - 1] : of.fields?.get(key);
    return (of as Record<string, Value>)[key as string];
  },
  set(of: Table, key: Value, value: Value): void {
    if (typeof key !== 'number') (of.fields ??= new Map()).set(key, value);
    else if (key >= 1 && key <= of.array.length + 1) of.array[key - 1] = value;
    else throw new RangeError('a table with a gap');
  },
  table: (...values: Value[]): Table => new Table(values),
  length: (of: Value): number => items(of).length,
  isTrue: (value: Value): boolean => value !== undefined && value !== null && value !== false,
  number: (value: Value): number => (typeof value === 'number' ? value : numberIn(value)),
  text,
  items,
  tonumber(value: Value): number | undefined {
    const made = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof made === 'number' && !Number.isNaN(made) ? made : undefined;
  },
  format(form: string, ...values: number[]): string {
    const { digits, between } = formOf(form);
    let made = between[0] ?? '';
    for (const [at, value] of values.entries()) made += value.toFixed(digits[at]) + (between[at + 1] ?? '');
    return made;
  },
  /** Both of its captures, or what was found. */
  match(subject: string, pattern: string): Value[] {
    const found = patternOf(pattern).exec(subject);
    return found === null ? [undefined] : found.length > 1 ? found.slice(1) : [found[0]];
  },
  decode: (json: string): Value => JSON.parse(json) as Value,
};

/** What a string says, in arithmetic. */
function numberIn(value: Value): number {
  const made = typeof value === 'string' ? Number(value) : NaN;
  if (Number.isNaN(made)) throw new TypeError(`no number: ${String(value)}`);
  return made;
}

const patterns = new Map<string, RegExp>();

function patternOf(pattern: string): RegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  if (!/^[\^$()+ ]*(%S[\^$()+ ]*)*$/.test(pattern)) throw new SyntaxError(`Lua pattern ${pattern}`);
  const made = new RegExp(pattern.replaceAll('%S', '\\S'));
  patterns.set(pattern, made);
  return made;
}

interface Form {
  /** Of each number. */
  readonly digits: readonly number[];
  /** The text before, between and after the numbers. */
  readonly between: readonly string[];
}

const forms = new Map<string, Form>();

function formOf(form: string): Form {
  const known = forms.get(form);
  if (known !== undefined) return known;
  const digits = [...form.matchAll(/%(?:\.(\d)f|d)/g)].map(([, count]) => Number(count ?? 0));
  const made = { digits, between: form.split(/%(?:\.\df|d)/) };
  if (made.between.some((text) => text.includes('%'))) throw new SyntaxError(`Lua format ${form}`);
  forms.set(form, made);
  return made;
}

function items(of: Value): readonly Value[] {
  if (Array.isArray(of)) return of as Value[];
  if (of instanceof Table) return of.array;
  throw new TypeError('no list');
}

function text(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new TypeError(`no text: ${String(value)}`);
}

/** As the store answers a client: numbers lose their fraction. */
function reply(value: Value): unknown {
  if (value instanceof Table) return value.array.map(reply);
  if (typeof value === 'number') return Math.trunc(value);
  return value === false || value === undefined ? null : value;
}

const LITERAL = /^[\d.]+$/;
const TOKEN =
  /\s*(?:--[^\n]*\s*)*(?:(\d+(?:\.\d+)?)|('(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(\.\.|==|~=|<=|>=|[-+*/<>=#(){}[\].,;]))/y;
const PRECEDENCE: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  '<': 3,
  '>': 3,
  '<=': 3,
  '>=': 3,
  '==': 3,
  '~=': 3,
  '..': 4,
  '+': 5,
  '-': 5,
  '*': 6,
  '/': 6,
};
const UNARY = 7;
/** JavaScript's own words that the scripts may use as names. */
const NAMES: Readonly<Record<string, string>> = { new: 'new_', in: 'in_' };
const BUILT_IN: Readonly<Record<string, string>> = {
  'redis.call': 'L.call',
  'cjson.decode': 'L.decode',
  'string.format': 'L.format',
  'math.max': 'Math.max',
  'math.min': 'Math.min',
  'math.floor': 'Math.floor',
  tonumber: 'L.tonumber',
};

class Compiler {
  private readonly tokens: string[] = [];
  private at = 0;
  private temporaries = 0;

  constructor(source: string) {
    TOKEN.lastIndex = 0;
    const end = source.trimEnd().length;
    for (let last = 0; last < end; last = TOKEN.lastIndex) {
      const found = TOKEN.exec(source);
      if (found === null) throw new SyntaxError(`Lua: ${source.slice(last, last + 30)}`);
      this.tokens.push(found.slice(1).find((piece) => piece !== undefined) ?? '');
    }
  }

  chunk(): string {
    const code = this.block();
    if (this.at < this.tokens.length) throw new SyntaxError(`Lua: ${this.peek()}`);
    return code;
  }

  private peek(): string {
    return this.tokens[this.at] ?? '';
  }

  private next(): string {
    return this.tokens[this.at++] ?? '';
  }

  private accept(token: string): boolean {
    if (this.peek() !== token) return false;
    this.at++;
    return true;
  }

  private expect(token: string): void {
    if (!this.accept(token)) throw new SyntaxError(`Lua: ${token} expected, ${this.peek()} found`);
  }

  private name(): string {
    const token = this.next();
    if (!/^[A-Za-z_]\w*$/.test(token)) throw new SyntaxError(`Lua: a name expected, ${token} found`);
    return NAMES[token] ?? token;
  }

  private block(): string {
    let code = '';
    while (!['', 'end', 'else', 'elseif'].includes(this.peek())) code += this.statement();
    return code;
  }

  private statement(): string {
    if (this.accept('local')) return this.accept('function') ? this.func() : this.local();
    if (this.accept('if')) return this.branch();
    if (this.accept('for')) return this.loop();
    if (this.accept('return')) return `return ${this.expression()};`;
    return this.assignmentOrCall();
  }

  private func(): string {
    const name = this.name();
    this.expect('(');
    const parameters: string[] = [];
    while (!this.accept(')')) {
      parameters.push(this.name());
      this.accept(',');
    }
    const body = this.block();
    this.expect('end');
    return `function ${name}(${parameters.join()}){${body}}\n`;
  }

  private local(): string {
    const names = [this.name()];
    while (this.accept(',')) names.push(this.name());
    this.expect('=');
    return `let ${names.join()};${this.assigned(names)}`;
  }

  private assigned(targets: readonly string[]): string {
    if (targets.length > 1 && this.isMatch()) {
      const all = this.match();
      return `[${targets.join()}]=${all};\n`;
    }
    const values = [this.expression()];
    while (this.accept(',')) values.push(this.expression());
    const made = values.map(() => `t${this.temporaries++}`);
    const kept = made.map((name, at) => `const ${name}=${values[at]};`).join('');
    return `${kept}${targets.map((target, at) => `${target}=${made[at]};`).join('')}\n`;
  }

  private branch(): string {
    const condition = this.expression();
    this.expect('then');
    let code = `if(${isTrue(condition)}){${this.block()}}`;
    if (this.accept('elseif')) return `${code}else{${this.branch()}}`;
    if (this.accept('else')) code += `else{${this.block()}}`;
    this.expect('end');
    return `${code}\n`;
  }

  private loop(): string {
    this.expect('_');
    this.expect(',');
    const name = this.name();
    this.expect('in');
    this.expect('ipairs');
    this.expect('(');
    const list = this.expression();
    this.expect(')');
    this.expect('do');
    const body = this.block();
    this.expect('end');
    return `for(const ${name} of L.items(${list})){${body}}\n`;
  }

  private assignmentOrCall(): string {
    const targets = [this.target()];
    while (this.accept(',')) targets.push(this.target());
    const [first] = targets;
    if (first !== undefined && 'call' in first) return `${first.call};\n`;
    this.expect('=');
    const values = [this.expression()];
    while (this.accept(',')) values.push(this.expression());
    return targets
      .map((target, at) => {
        if ('call' in target) throw new SyntaxError('Lua: a call is no target');
        return 'name' in target
          ? `${target.name}=${values[at]};`
          : `L.set(${target.of},${target.key},${values[at]});`;
      })
      .join('');
  }

  private target(): { name: string } | { of: string; key: string } | { call: string } {
    const from = this.at;
    const base = this.name();
    if (this.peek() === '.' || this.peek() === '(') {
      this.at = from;
      return { call: this.primary() };
    }
    if (!this.accept('[')) return { name: base };
    const key = this.expression();
    this.expect(']');
    return { of: base, key };
  }

  private expression(least = 0): string {
    let left = this.unary();
    for (;;) {
      const operator = this.peek();
      const strength = PRECEDENCE[operator];
      if (strength === undefined || strength <= least) return left;
      this.next();
      // To the right: `..` alone.
      left = binary(operator, left, this.expression(operator === '..' ? strength - 1 : strength));
    }
  }

  private unary(): string {
    if (this.accept('not')) return `(!${isTrue(this.expression(UNARY - 1))})`;
    if (this.accept('#')) return `L.length(${this.expression(UNARY - 1)})`;
    if (this.accept('-')) return `(-L.number(${this.expression(UNARY - 1)}))`;
    return this.primary();
  }

  private isMatch(): boolean {
    return this.tokens.slice(this.at, this.at + 3).join('') === 'string.match';
  }

  /** A list of what was found. */
  private match(): string {
    this.at += 3;
    return `L.match${this.parameters()}`;
  }

  private primary(): string {
    if (this.isMatch()) return `${this.match()}[0]`;
    const token = this.next();
    if (token === '(') {
      const inner = this.expression();
      this.expect(')');
      return this.suffixed(`(${inner})`);
    }
    if (token === '{') return this.list();
    if (/^[\d']/.test(token)) return token;
    if (token === 'true' || token === 'false') return token;
    if (token === 'nil') return 'undefined';
    const qualified = this.peek() === '.' ? `${token}.${this.tokens[this.at + 1]}` : token;
    const builtIn = BUILT_IN[qualified];
    if (builtIn !== undefined) {
      if (qualified !== token) this.at += 2;
      return this.suffixed(`${builtIn}${this.parameters()}`);
    }
    this.at--;
    return this.suffixed(this.name());
  }

  private list(): string {
    const values: string[] = [];
    while (!this.accept('}')) {
      values.push(this.expression());
      this.accept(',');
    }
    return `L.table(${values.join()})`;
  }

  private suffixed(base: string): string {
    let code = base;
    for (;;) {
      if (this.accept('[')) {
        code = `L.index(${code},${this.expression()})`;
        this.expect(']');
      } else if (this.accept('.'))
        code += `.${this.next()}`; // of what was decoded: no table of a script has names
      else if (this.peek() === '(') code += this.parameters();
      else return code;
    }
  }

  private parameters(): string {
    this.expect('(');
    const values: string[] = [];
    while (!this.accept(')')) {
      if (this.accept('unpack')) values.push(`...L.items${this.parameters()}`);
      else values.push(this.expression());
      this.accept(',');
    }
    return `(${values.join()})`;
  }
}

function binary(operator: string, left: string, right: string): string {
  switch (operator) {
    case 'and':
      return `((l)=>L.isTrue(l)?${right}:l)(${left})`;
    case 'or':
      return `((l)=>L.isTrue(l)?l:${right})(${left})`;
    case '..':
      return `(L.text(${left})+L.text(${right}))`;
    case '==':
      return `(${left}===${right})`;
    case '~=':
      return `(${left}!==${right})`;
    default:
      return `(${numeric(left)}${operator}${numeric(right)})`;
  }
}

function isTrue(code: string): string {
  return code.startsWith('(!') ? code : `L.isTrue(${code})`;
}

function numeric(code: string): string {
  return LITERAL.test(code) ? code : `L.number(${code})`;
}
