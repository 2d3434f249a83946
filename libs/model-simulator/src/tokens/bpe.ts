import { createRequire } from 'node:module';

interface RankData {
  readonly pat_str: string;
  readonly bpe_ranks: string;
}

// The package's types claim an ES module only, though it ships a CommonJS build.
const loaded = createRequire(__filename)('js-tiktoken/ranks/o200k_base') as RankData & { default?: RankData };
const ranks: RankData = loaded.default ?? loaded;

/** Pieces longer than this are merged with a heap: the simple merge is quadratic and one long line would hang the server. */
const HEAP_ABOVE = 128;
const CACHED_PIECE_MAX = 64;
const CACHE_ENTRIES = 65_536;
/** Positions fit below 2^32 and ranks below 2^18, so rank * 2^32 + position is a safe integer. */
const POSITIONS = 4_294_967_296;

/** Exact o200k_base token counter, linear in the text. Rank data from js-tiktoken; its own encoder is quadratic on long runs. */
export class Bpe {
  private readonly ranks = new Map<string, number>();
  private readonly longest: number;
  private readonly pattern: RegExp;
  private readonly pieces = new Map<string, number>();

  constructor() {
    let longest = 0;
    for (const line of ranks.bpe_ranks.split('\n')) {
      if (line === '') continue;
      const [, offset, ...tokens] = line.split(' ');
      let rank = Number.parseInt(offset ?? '', 10);
      for (const token of tokens) {
        const bytes = Buffer.from(token, 'base64').toString('latin1');
        this.ranks.set(bytes, rank++);
        longest = Math.max(longest, bytes.length);
      }
    }
    this.longest = longest;
    // JavaScript's \s includes U+FEFF, the reference tokenizer's does not.
    this.pattern = new RegExp(ranks.pat_str.replace(/\\s/g, '\\p{White_Space}').replace(/\\S/g, '\\P{White_Space}'), 'ug');
  }

  /** Number of tokens of the text; special-token text counts as ordinary text. */
  count(text: string): number {
    let total = 0;
    for (const match of text.toWellFormed().matchAll(this.pattern)) total += this.countPiece(match[0]);
    return total;
  }

  private countPiece(piece: string): number {
    const known = this.pieces.get(piece);
    if (known !== undefined) return known;
    const bytes = isAscii(piece) ? piece : Buffer.from(piece, 'utf8').toString('latin1');
    let count: number;
    if (bytes.length === 1 || this.ranks.has(bytes)) count = 1;
    else count = bytes.length > HEAP_ABOVE ? this.mergeWithHeap(bytes) : this.mergeByScan(bytes);
    if (piece.length <= CACHED_PIECE_MAX) {
      if (this.pieces.size >= CACHE_ENTRIES) this.pieces.clear();
      this.pieces.set(piece, count);
    }
    return count;
  }

  private mergeByScan(bytes: string): number {
    const starts = Array.from({ length: bytes.length + 1 }, (_, index) => index);
    const rankAt = (index: number): number => {
      const end = starts[index + 2];
      return end === undefined ? Infinity : (this.ranks.get(bytes.slice(starts[index], end)) ?? Infinity);
    };
    const pairs = starts.map((_, index) => rankAt(index));
    for (;;) {
      let lowest = Infinity;
      let at = -1;
      pairs.forEach((rank, index) => {
        if (rank < lowest) {
          lowest = rank;
          at = index;
        }
      });
      if (at < 0) return starts.length - 1;
      starts.splice(at + 1, 1);
      pairs.splice(at + 1, 1);
      pairs[at] = rankAt(at);
      if (at > 0) pairs[at - 1] = rankAt(at - 1);
    }
  }

  private mergeWithHeap(bytes: string): number {
    const length = bytes.length;
    const next = Int32Array.from({ length: length + 1 }, (_, index) => index + 1);
    const previous = Int32Array.from({ length: length + 1 }, (_, index) => index - 1);
    const rankOf = new Int32Array(length + 1).fill(-1);
    const dead = new Uint8Array(length + 1);
    const heap = new Heap();
    const update = (position: number): void => {
      const middle = next[position] ?? length;
      rankOf[position] = -1;
      if (middle >= length) return;
      const end = next[middle] ?? length;
      if (end - position > this.longest) return;
      const rank = this.ranks.get(bytes.slice(position, end));
      if (rank === undefined) return;
      rankOf[position] = rank;
      heap.push(rank * POSITIONS + position);
    };
    for (let position = 0; position < length - 1; position++) update(position);
    let parts = length;
    for (let top = heap.pop(); top !== undefined; top = heap.pop()) {
      const position = top % POSITIONS;
      if (dead[position] === 1 || rankOf[position] !== (top - position) / POSITIONS) continue;
      const middle = next[position] ?? length;
      const end = next[middle] ?? length;
      next[position] = end;
      previous[end] = position;
      dead[middle] = 1;
      parts--;
      update(position);
      const before = previous[position] ?? -1;
      if (before >= 0) update(before);
    }
    return parts;
  }
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}

class Heap {
  private readonly items: number[] = [];

  push(value: number): void {
    const items = this.items;
    let at = items.length;
    items.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const held = items[parent] ?? 0;
      if (held <= value) break;
      items[at] = held;
      at = parent;
    }
    items[at] = value;
  }

  pop(): number | undefined {
    const items = this.items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if ((items[child + 1] ?? Infinity) < (items[child] ?? Infinity)) child++;
      const held = items[child] ?? Infinity;
      if (held >= last) break;
      items[at] = held;
      at = child;
    }
    items[at] = last;
    return top;
  }
}
