import { stringify } from 'yaml';

/**
 * An interpreter of the part of Go templates that our chart uses, so that its manifests can be rendered and checked where no
 * `helm` binary is to be had. An action or function outside that part is an error, not a guess.
 */
export type Scope = { readonly dot: unknown; readonly variables: ReadonlyMap<string, unknown> };
type Node =
  | { kind: 'text'; text: string }
  | { kind: 'action'; code: string }
  | { kind: 'block'; word: 'if' | 'range' | 'define'; code: string; body: Node[]; otherwise: Node[] };

const functions: Record<string, (...args: unknown[]) => unknown> = {
  quote: (value) => JSON.stringify(String(value)),
  nindent: (width, text) => `\n${String(text).replace(/^(?=.)/gm, ' '.repeat(Number(width)))}`,
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  upper: (text) => String(text).toUpperCase(),
  replace: (from, to, text) => String(text).replaceAll(String(from), String(to)),
  mul: (...values) => values.map(Number).reduce((a, b) => a * b),
  sub: (a, b) => Number(a) - Number(b),
  int: (value) => Math.trunc(Number(value ?? 0)),
  gt: (a, b) => Number(a) > Number(b),
  not: (value) => !truthy(value),
  and: (...values) => values.find((value) => !truthy(value)) ?? values.at(-1),
};

function truthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function parse(source: string): Node[] {
  const tokens = source.split(/(\{\{-?[\s\S]*?-?\}\})/);
  for (const [index, token] of tokens.entries()) {
    if (index % 2 === 0) continue;
    if (token.startsWith('{{-')) tokens[index - 1] = (tokens[index - 1] ?? '').trimEnd();
    if (token.endsWith('-}}')) tokens[index + 1] = (tokens[index + 1] ?? '').trimStart();
  }
  let at = 0;
  const nodes = (): { list: Node[]; end: string } => {
    const list: Node[] = [];
    while (at < tokens.length) {
      const token = tokens[at++] ?? '';
      if (at % 2 === 1) {
        if (token !== '') list.push({ kind: 'text', text: token });
        continue;
      }
      const code = token.replace(/^\{\{-?\s*|\s*-?\}\}$/g, '');
      const [word = ''] = code.split(/\s/);
      if (word === 'end' || word === 'else') return { list, end: word };
      if (word === 'if' || word === 'range' || word === 'define') {
        const body = nodes();
        const otherwise = body.end === 'else' ? nodes().list : [];
        list.push({ kind: 'block', word, code: code.slice(word.length).trim(), body: body.list, otherwise });
      } else if (!code.startsWith('/*')) list.push({ kind: 'action', code });
    }
    return { list, end: '' };
  };
  return nodes().list;
}

export class Templates {
  private readonly named = new Map<string, Node[]>();

  /** Renders one file; `define` blocks become known to the files after it. */
  render(source: string, dot: unknown): string {
    return this.run(parse(source), { dot, variables: new Map([['$', dot]]) });
  }

  private run(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.node(node, scope)).join('');
  }

  private node(node: Node, scope: Scope): string {
    if (node.kind === 'text') return node.text;
    if (node.kind === 'action') return String(this.pipeline(node.code, scope) ?? '');
    switch (node.word) {
      case 'define':
        this.named.set(JSON.parse(node.code) as string, node.body);
        return '';
      case 'if':
        return this.run(truthy(this.pipeline(node.code, scope)) ? node.body : node.otherwise, scope);
      case 'range': {
        const [, key, value, over] = /^\$(\w+), \$(\w+) := (.*)$/.exec(node.code) ?? [];
        if (!key || !value || !over) throw new SyntaxError(`range ${node.code}: only "$key, $value := …" is known`);
        const entries = Object.entries(this.pipeline(over, scope) as object).sort(([a], [b]) => (a < b ? -1 : 1));
        return entries
          .map(([k, v]) =>
            this.run(node.body, { dot: v, variables: new Map([...scope.variables, [`$${key}`, k], [`$${value}`, v]]) }),
          )
          .join('');
      }
    }
  }

  private pipeline(code: string, scope: Scope): unknown {
    return split(code, '|').reduce<unknown[]>((piped, stage) => [this.call(split(stage, ' '), scope, piped)], [])[0];
  }

  private call(words: readonly string[], scope: Scope, piped: readonly unknown[]): unknown {
    const [head = '', ...rest] = words;
    const args = [...rest.map((word) => this.value(word, scope)), ...piped];
    if (head === 'include')
      return this.run(this.named.get(String(args[0])) ?? fail(`no template ${String(args[0])}`), {
        dot: args[1],
        variables: new Map([['$', args[1]]]),
      });
    if (/^[a-zA-Z]/.test(head)) return (functions[head] ?? fail(`unknown function ${head}`))(...args);
    return this.value(head, scope);
  }

  private value(word: string, scope: Scope): unknown {
    if (word.startsWith('(')) return this.pipeline(word.slice(1, -1), scope);
    if (/^(".*"|-?\d+)$/.test(word)) return JSON.parse(word);
    const [, root = '', path = ''] = /^(\$\w*|)((?:\.\w+)*|\.)$/.exec(word) ?? fail(`cannot read ${word}`);
    const start = root === '' ? scope.dot : scope.variables.get(root);
    return path
      .split('.')
      .filter(Boolean)
      .reduce<unknown>((value, field) => (value as Record<string, unknown> | undefined)?.[field], start);
  }
}

function fail(message: string): never {
  throw new SyntaxError(message);
}

/** Splits outside quotes and parentheses. */
function split(code: string, at: ' ' | '|'): string[] {
  const parts = [''];
  let depth = 0;
  let quoted = false;
  for (const letter of code) {
    if (letter === '"') quoted = !quoted;
    if (!quoted && letter === '(') depth += 1;
    if (!quoted && letter === ')') depth -= 1;
    if (letter === at && !quoted && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
