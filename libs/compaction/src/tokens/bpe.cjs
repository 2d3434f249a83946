'use strict';
// Exact o200k_base counting on js-tiktoken's rank data. Plain JavaScript because a worker thread loads it, from the
// sources under jest and from dist alike. The libraries are quadratic or worse on one long piece ("a" 100 000 times takes
// over 25 s): a denial of service for whoever counts user input. Here long pieces go through a heap: O(n log n).

/** A position in a heap entry is its remainder: rank * POSITIONS + position stays a safe integer. */
const POSITIONS = 4294967296;
/** Pieces up to this many bytes are merged by scanning, which is faster than a heap for them. */
const SCAN_LIMIT = 128;
/** Pieces up to this many characters are remembered. */
const CACHED_LENGTH = 64;
const CACHE_SIZE = 65536;

class Heap {
  constructor() {
    this.items = [];
  }

  get size() {
    return this.items.length;
  }

  push(value) {
    const items = this.items;
    let i = items.length;
    items.push(value);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (items[parent] <= value) break;
      items[i] = items[parent];
      i = parent;
    }
    items[i] = value;
  }

  pop() {
    const items = this.items;
    const top = items[0];
    const value = items.pop();
    const length = items.length;
    if (length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= length) break;
      if (child + 1 < length && items[child + 1] < items[child]) child++;
      if (items[child] >= value) break;
      items[i] = items[child];
      i = child;
    }
    items[i] = value;
    return top;
  }
}

class TokenCounter {
  constructor() {
    const loaded = require('js-tiktoken/ranks/o200k_base');
    const data = loaded.default ?? loaded;
    // Keys are byte strings (latin1): slicing a string is cheaper than slicing a buffer.
    this.rank = new Map();
    this.longest = 0;
    for (const line of data.bpe_ranks.split('\n')) {
      if (line) this.addLine(line);
    }
    // JavaScript's \s holds U+FEFF, which the reference implementation does not count as white space.
    const source = data.pat_str.replace(/\\s/g, '\\p{White_Space}').replace(/\\S/g, '\\P{White_Space}');
    this.pieces = new RegExp(source, 'ug');
    this.cache = new Map();
  }

  addLine(line) {
    const first = line.indexOf(' ');
    let at = line.indexOf(' ', first + 1);
    let rank = parseInt(line.slice(first + 1, at), 10);
    at++;
    while (at <= line.length) {
      let end = line.indexOf(' ', at);
      if (end < 0) end = line.length;
      const bytes = Buffer.from(line.slice(at, end), 'base64').latin1Slice();
      this.rank.set(bytes, rank++);
      if (bytes.length > this.longest) this.longest = bytes.length;
      at = end + 1;
    }
  }

  /** Tokens of a text. Special-token text counts as ordinary text. */
  count(text) {
    const wellFormed = text.toWellFormed();
    const pieces = this.pieces;
    pieces.lastIndex = 0;
    let total = 0;
    for (let match = pieces.exec(wellFormed); match !== null; match = pieces.exec(wellFormed)) total += this.countPiece(match[0]);
    return total;
  }

  countPiece(piece) {
    const known = this.cache.get(piece);
    if (known !== undefined) return known;
    let bytes = piece;
    for (let i = 0; i < piece.length; i++) {
      if (piece.charCodeAt(i) > 127) {
        bytes = Buffer.from(piece, 'utf8').latin1Slice();
        break;
      }
    }
    let tokens;
    if (bytes.length === 1 || this.rank.has(bytes)) tokens = 1;
    else tokens = bytes.length > SCAN_LIMIT ? this.mergeLong(bytes) : this.mergeShort(bytes);
    if (piece.length <= CACHED_LENGTH) {
      if (this.cache.size >= CACHE_SIZE) this.cache.clear();
      this.cache.set(piece, tokens);
    }
    return tokens;
  }

  rankOf(bytes, from, to) {
    return this.rank.get(bytes.slice(from, to)) ?? Infinity;
  }

  mergeShort(bytes) {
    const n = bytes.length;
    const starts = new Array(n + 1);
    const ranks = new Array(n + 1).fill(Infinity);
    for (let i = 0; i <= n; i++) starts[i] = i;
    for (let i = 0; i < n - 1; i++) ranks[i] = this.rankOf(bytes, i, i + 2);
    let boundaries = n + 1;
    for (;;) {
      let least = Infinity;
      let at = -1;
      for (let i = 0; i < boundaries - 2; i++) {
        if (ranks[i] < least) {
          least = ranks[i];
          at = i;
        }
      }
      if (at < 0) return boundaries - 1;
      for (let i = at + 1; i < boundaries - 1; i++) {
        starts[i] = starts[i + 1];
        ranks[i] = ranks[i + 1];
      }
      boundaries--;
      ranks[at] = at + 2 < boundaries ? this.rankOf(bytes, starts[at], starts[at + 2]) : Infinity;
      if (at > 0) ranks[at - 1] = this.rankOf(bytes, starts[at - 1], starts[at + 1]);
    }
  }

  mergeLong(bytes) {
    const n = bytes.length;
    const next = new Int32Array(n + 1);
    const previous = new Int32Array(n + 1);
    const rankAt = new Int32Array(n + 1).fill(-1);
    const merged = new Uint8Array(n + 1);
    for (let i = 0; i <= n; i++) {
      next[i] = i + 1;
      previous[i] = i - 1;
    }
    const heap = new Heap();
    const offer = (i) => {
      rankAt[i] = -1;
      const middle = next[i];
      if (middle >= n) return;
      const end = next[middle];
      if (end - i > this.longest) return;
      const rank = this.rank.get(bytes.slice(i, end));
      if (rank === undefined) return;
      rankAt[i] = rank;
      heap.push(rank * POSITIONS + i);
    };
    for (let i = 0; i < n - 1; i++) offer(i);
    let parts = n;
    while (heap.size > 0) {
      const entry = heap.pop();
      const i = entry % POSITIONS;
      // A merge left stale entries behind: they no longer say what stands at their position.
      if (merged[i] || rankAt[i] !== (entry - i) / POSITIONS) continue;
      const middle = next[i];
      const end = next[middle];
      next[i] = end;
      previous[end] = i;
      merged[middle] = 1;
      parts--;
      offer(i);
      if (previous[i] >= 0) offer(previous[i]);
    }
    return parts;
  }
}

module.exports = { TokenCounter };
