// Numbers as people write them, and as bits.
//
// In: the name of a kind of element (`i8`, `u32`, `f16`, `bf16`, `mask`, `bits`) with its width, and a text or
// bits. Out: `guide.read(kind, width, text)`, bits as a BigInt or null where the text is no such number;
// `guide.show(kind, width, bits)`, a text that reads back as the same bits; `guide.lot(kind, width)`, bits
// by lot.
"use strict";

(() => {
  // Exponent and fraction bits.
  const FORMATS = { f16: [5, 10], bf16: [8, 7], f32: [8, 23], f64: [11, 52] };
  const ones = (width) => (1n << BigInt(width)) - 1n;
  const view = new DataView(new ArrayBuffer(8));

  const double = (number) => {
    view.setFloat64(0, number);
    return view.getBigUint64(0);
  };

  // A double in a narrower format, rounded to the nearest, ties to even.
  const narrowed = (number, [exponent, fraction]) => {
    const all = double(number);
    const sign = (all >> 63n) << BigInt(exponent + fraction);
    const top = (1 << exponent) - 1;
    if (Number.isNaN(number)) return sign | (BigInt(top) << BigInt(fraction)) | (1n << BigInt(fraction - 1));
    const magnitude = Math.abs(number);
    if (magnitude === Infinity) return sign | (BigInt(top) << BigInt(fraction));
    const bias = (top >> 1);
    const least = 1 - bias;
    let at = magnitude === 0 ? least : Math.max(least, Number((all >> 52n) & 0x7ffn) - 1023);
    // In units of the last place; a power of two more or less is exact, in two steps where it is large.
    const scaled = magnitude * 2 ** Math.trunc((fraction - at) / 2) * 2 ** (fraction - at - Math.trunc((fraction - at) / 2));
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    let units = BigInt(floor) + (rest > 0.5 || (rest === 0.5 && floor % 2) ? 1n : 0n);
    if (units >> BigInt(fraction + 1)) {
      units >>= 1n;
      at += 1;
    }
    if (at > bias) return sign | (BigInt(top) << BigInt(fraction));
    const subnormal = !(units >> BigInt(fraction));
    return sign | (subnormal ? units : (BigInt(at + bias) << BigInt(fraction)) | (units & ones(fraction)));
  };

  const encode = (kind, number) => {
    if (kind === "f64") return double(number);
    return narrowed(number, FORMATS[kind]);
  };

  const decode = (kind, bits) => {
    if (kind === "f64") {
      view.setBigUint64(0, bits);
      return view.getFloat64(0);
    }
    const [exponent, fraction] = FORMATS[kind];
    const negative = (bits >> BigInt(exponent + fraction)) & 1n ? -1 : 1;
    const field = Number((bits >> BigInt(fraction)) & ones(exponent));
    const part = Number(bits & ones(fraction)) / 2 ** fraction;
    const top = 2 ** exponent - 1;
    if (field === top) return part ? NaN : negative * Infinity;
    return negative * (field ? (1 + part) * 2 ** (field - (top >> 1)) : part * 2 ** (1 - (top >> 1)));
  };

  // The shortest decimal that reads back.
  const shortest = (kind, bits) => {
    const number = decode(kind, bits);
    const quiet = kind === "f64" ? double(NaN) : narrowed(NaN, FORMATS[kind]);
    if (Number.isNaN(number)) return bits === quiet ? "nan" : `0x${bits.toString(16)}`;
    if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
    if (Object.is(number, -0)) return "-0";
    for (let digits = 1; digits <= 17; digits += 1) {
      const short = Number(number.toPrecision(digits));
      if (encode(kind, short) === bits) return String(short);
    }
    return String(number);
  };

  const float = (kind) => FORMATS[kind];
  const signed = (kind) => /^i\d/.test(kind);

  guide.read = (kind, width, text) => {
    const typed = text.trim().toLowerCase().replace(/_/g, "");
    if (/^0x[0-9a-f]+$|^0b[01]+$/.test(typed)) {
      const bits = BigInt(typed);
      return bits <= ones(width) ? bits : null;
    }
    if (float(kind)) {
      if (/^[+-]?nan$/.test(typed)) return encode(kind, NaN);
      if (/^[+-]?inf(inity)?$/.test(typed)) return encode(kind, typed.startsWith("-") ? -Infinity : Infinity);
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(typed) ? encode(kind, Number(typed)) : null;
    }
    if (!/^[+-]?\d+$/.test(typed)) return null;
    const number = BigInt(typed.replace("+", ""));
    // A negative number may be written for an unsigned one: -1 is all ones.
    const fits = number >= 0n ? number <= (signed(kind) ? ones(width - 1) : ones(width)) : number >= -(1n << BigInt(width - 1));
    return fits ? number & ones(width) : null;
  };

  guide.show = (kind, width, bits) => {
    if (float(kind)) return shortest(kind, bits);
    if (signed(kind) && bits >> BigInt(width - 1)) return String(bits - (1n << BigInt(width)));
    return kind === "bits" && width > 64 ? `0x${bits.toString(16)}` : String(bits);
  };

  // Small numbers, numbers at the ends of what there are, and any.
  guide.lot = (kind, width) => {
    const any = () => Math.floor(Math.random() * 2 ** 32);
    if (float(kind)) {
      const most = kind === "f16" ? 60000 : 1e9;
      const list = [any() % 10, (any() % 2000) / 8 - 125, (Math.random() - 0.5) * 2, (Math.random() - 0.5) * most];
      return any() % 16 ? encode(kind, list[any() % 4]) : encode(kind, [0, -0, Infinity, -Infinity, NaN, most][any() % 6]);
    }
    let bits = 0n;
    for (let k = 0; k < width; k += 32) bits = (bits << 32n) | BigInt(any());
    bits &= ones(width);
    const ends = [0n, 1n, ones(width), ones(width) >> 1n, 1n << BigInt(width - 1)];
    const way = any() % 8;
    return way < 3 ? bits % 16n : way === 3 ? ends[any() % ends.length] & ones(width) : bits;
  };
})();
