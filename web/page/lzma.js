'use strict';
// Unpacks LZMA, which the browser cannot: the program packed so takes a third less than with gzip. Python's module lzma packs it
// (web/make_page.py). The format: lzma-specification.txt of the LZMA SDK.

/// Returns what an .lzma file with a known size holds: 5 bytes of properties, 8 of the size, the stream.
function unpackLzma(packed) {
  const header = new DataView(packed.buffer, packed.byteOffset);
  const properties = packed[0];
  const literalContext = properties % 9;
  const literalPosition = Math.floor(properties / 9) % 5;
  const positionMask = (1 << Math.floor(properties / 45)) - 1;
  const out = new Uint8Array(header.getUint32(5, true));

  // The range coder. Each probability is that of a 0, of 2048. Range and code are in an array of 32 bits: in variables, engines
  // would make objects of them.
  let next = 13 + 5;
  const coder = new Uint32Array([0xffffffff, header.getUint32(13 + 1)]);
  const RANGE = 0, CODE = 1;
  const probabilities = (count) => new Uint16Array(count).fill(1024);
  const grow = () => {
    coder[RANGE] <<= 8;
    coder[CODE] = (coder[CODE] << 8) | packed[next++];
  };
  const bit = (table, at) => {
    const odds = table[at];
    const bound = Math.imul(coder[RANGE] >>> 11, odds) >>> 0;
    let value = 0;
    if (coder[CODE] < bound) {
      coder[RANGE] = bound;
      table[at] = odds + ((2048 - odds) >> 5);
    } else {
      coder[RANGE] -= bound;
      coder[CODE] -= bound;
      table[at] = odds - (odds >> 5);
      value = 1;
    }
    if (coder[RANGE] < 0x1000000) grow();
    return value;
  };
  const evenBits = (count) => {
    let value = 0;
    for (; count > 0; --count) {
      coder[RANGE] >>>= 1;
      const one = coder[CODE] >= coder[RANGE] ? 1 : 0;
      if (one) coder[CODE] -= coder[RANGE];
      if (coder[RANGE] < 0x1000000) grow();
      value = value * 2 + one;
    }
    return value;
  };
  const tree = (table, from, count) => {
    let at = 1;
    for (let i = 0; i < count; ++i) at = (at << 1) | bit(table, from + at);
    return at - (1 << count);
  };
  const reverseTree = (table, from, count) => {
    let at = 1;
    let value = 0;
    for (let i = 0; i < count; ++i) {
      const one = bit(table, from + at);
      at = (at << 1) | one;
      value |= one << i;
    }
    return value;
  };

  const lengths = () => ({choice: probabilities(2), low: probabilities(16 * 8), middle: probabilities(16 * 8), high: probabilities(256)});
  const lengthOf = ({choice, low, middle, high}, position) => {
    if (!bit(choice, 0)) return 2 + tree(low, position * 8, 3);
    if (!bit(choice, 1)) return 10 + tree(middle, position * 8, 3);
    return 18 + tree(high, 0, 8);
  };

  const literals = probabilities(0x300 << (literalContext + literalPosition));
  const isMatch = probabilities(12 * 16);
  const isRepeated = probabilities(12);
  const isOlder = [probabilities(12), probabilities(12), probabilities(12)];
  const isLong = probabilities(12 * 16);
  const slots = probabilities(4 * 64);
  const farBits = probabilities(128);
  const lastBits = probabilities(16);
  const matchLengths = lengths();
  const repeatLengths = lengths();
  const distances = [0, 0, 0, 0];  // of the last four matches, less one
  let state = 0;

  const distanceOf = (length) => {
    const slot = tree(slots, Math.min(length - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** count;
    if (slot < 14) return base + reverseTree(farBits, base - slot, count);
    return base + evenBits(count - 4) * 16 + reverseTree(lastBits, 0, 4);
  };

  for (let at = 0; at < out.length;) {
    const position = at & positionMask;
    if (!bit(isMatch, state * 16 + position)) {
      const before = at > 0 ? out[at - 1] : 0;
      const context = ((at & ((1 << literalPosition) - 1)) << literalContext) + (before >> (8 - literalContext));
      const from = 0x300 * context;
      let symbol = 1;
      if (state >= 7) {
        let expected = out[at - distances[0] - 1];
        do {
          const hint = (expected >> 7) & 1;
          expected <<= 1;
          const one = bit(literals, from + ((1 + hint) << 8) + symbol);
          symbol = (symbol << 1) | one;
          if (hint !== one) break;
        } while (symbol < 0x100);
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(literals, from + symbol);
      out[at++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let length;
    if (bit(isRepeated, state)) {
      if (bit(isOlder[0], state)) {
        const index = !bit(isOlder[1], state) ? 1 : !bit(isOlder[2], state) ? 2 : 3;
        distances.unshift(...distances.splice(index, 1));
      } else if (!bit(isLong, state * 16 + position)) {
        state = state < 7 ? 9 : 11;
        out[at] = out[at - distances[0] - 1];
        ++at;
        continue;
      }
      length = lengthOf(repeatLengths, position);
      state = state < 7 ? 8 : 11;
    } else {
      length = lengthOf(matchLengths, position);
      distances.unshift(distanceOf(length));
      distances.pop();
      state = state < 7 ? 7 : 10;
    }
    for (let from = at - distances[0] - 1; length > 0 && at < out.length; --length) out[at++] = out[from++];
  }
  return out;
}

if (typeof module !== 'undefined') module.exports = {unpackLzma};
