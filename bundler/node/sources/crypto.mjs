import { blake2b, blake2s } from '@noble/hashes/blake2.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { md5, ripemd160, sha1 } from '@noble/hashes/legacy.js';
import { pbkdf2 as derive } from '@noble/hashes/pbkdf2.js';
import { scrypt as stretch } from '@noble/hashes/scrypt.js';
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from '@noble/hashes/sha2.js';
import { sha3_224, sha3_256, sha3_384, sha3_512 } from '@noble/hashes/sha3.js';
import { Buffer } from 'node:buffer';

const algorithms = {
  __proto__: null, blake2b512: blake2b, blake2s256: blake2s, md5, ripemd160, sha1, sha224, sha256, sha384, 'sha3-224': sha3_224, 'sha3-256': sha3_256, 'sha3-384': sha3_384,
  'sha3-512': sha3_512, sha512, 'sha512-224': sha512_224, 'sha512-256': sha512_256,
};
const coded = (error, code) => Object.assign(error, { code });
const algorithm = (name, message) => {
  if (typeof name !== 'string') throw coded(new TypeError(`The "algorithm" argument must be of type string. Received ${typeof name}`), 'ERR_INVALID_ARG_TYPE');
  const found = algorithms[name.toLowerCase().replace(/^rsa-/, '').replace(/^sha-(?=\d)/, 'sha').replace('/', '-').replace(/^rmd160$/, 'ripemd160')];
  if (found === undefined) throw coded(new Error(message ?? `Digest method not supported: \`${name}\`; there are ${Object.keys(algorithms).join(', ')}`), message ? 'ERR_CRYPTO_INVALID_DIGEST' : 'ERR_OSSL_EVP_UNSUPPORTED');
  return found;
};
const bytesOf = (data, encoding, name) => {
  if (typeof data === 'string') return Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (data instanceof KeyObject) return data.export();
  throw coded(new TypeError(`The "${name}" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${data === null ? 'null' : typeof data}`), 'ERR_INVALID_ARG_TYPE');
};
const given = (bytes, encoding) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
};
const later = (callback, make) => {
  let made;
  let error = null;
  try {
    made = make();
  } catch (failure) {
    error = failure;
  }
  queueMicrotask(() => (error === null ? callback(null, made) : callback(error)));
};

class Digest {
  #state;
  #isDone = false;
  constructor(state) {
    this.#state = state;
  }
  update(data, encoding) {
    if (this.#isDone) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
    this.#state.update(bytesOf(data, encoding, 'data'));
    return this;
  }
  digest(encoding) {
    if (this.#isDone) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
    this.#isDone = true;
    return given(this.#state.digest(), encoding);
  }
  _copied() {
    if (this.#isDone) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
    return this.#state.clone();
  }
}
export class Hash extends Digest {
  constructor(name) {
    super(typeof name === 'string' ? algorithm(name).create() : name);
  }
  copy() {
    return new Hash(this._copied());
  }
}
export class Hmac extends Digest {
  constructor(name, key) {
    super(hmac.create(algorithm(name, `Invalid digest: ${name}`), bytesOf(key, 'utf8', 'key')));
  }
}
export const createHash = name => {
  algorithm(name);
  return new Hash(name);
};
export const createHmac = (name, key) => new Hmac(name, key);
export const hash = (name, data, encoding = 'hex') => new Hash(name).update(data).digest(encoding);
export const getHashes = () => Object.keys(algorithms);

export class KeyObject {
  #bytes;
  constructor(type, bytes) {
    if (type !== 'secret') throw new Error('keys of scripts are secret ones: for others use `crypto.subtle`');
    this.#bytes = bytes;
  }
  get type() {
    return 'secret';
  }
  get symmetricKeySize() {
    return this.#bytes.length;
  }
  export(options) {
    if (options?.format === 'jwk') return { kty: 'oct', k: this.#bytes.toString('base64url') };
    return Buffer.from(this.#bytes);
  }
  equals(other) {
    return other instanceof KeyObject && timingSafeEqual(this.export(), other.export());
  }
}
export const createSecretKey = (key, encoding) => new KeyObject('secret', Buffer.from(bytesOf(key, encoding, 'key')));

export const { subtle } = globalThis.crypto;
export const webcrypto = globalThis.crypto;
export const getRandomValues = list => globalThis.crypto.getRandomValues(list);
export const randomUUID = () => globalThis.crypto.randomUUID();
const filled = bytes => {
  for (let at = 0; at < bytes.length; at += 65536) globalThis.crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
};
export const randomFillSync = (target, offset = 0, size = target.byteLength - offset) => {
  filled(bytesOf(target, undefined, 'buf').subarray(offset, offset + size));
  return target;
};
export const randomFill = (target, ...rest) => {
  const callback = rest.pop();
  later(callback, () => randomFillSync(target, ...rest));
};
export const randomBytes = (size, callback) => {
  if (typeof size !== 'number' || !(size >= 0 && size <= 2 ** 31 - 1)) {
    const kind = typeof size === 'number' ? RangeError : TypeError;
    throw coded(new kind('The "size" argument must be a number from 0 to 2147483647.'), kind === RangeError ? 'ERR_OUT_OF_RANGE' : 'ERR_INVALID_ARG_TYPE');
  }
  const make = () => filled(Buffer.alloc(size));
  if (callback === undefined) return make();
  later(callback, make);
};
export const pseudoRandomBytes = randomBytes;
export const rng = randomBytes;
export const prng = randomBytes;
export const randomInt = (from, to, callback) => {
  if (to === undefined || typeof to === 'function') [from, to, callback] = [0, from, to];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) throw coded(new TypeError('`randomInt` takes safe integers'), 'ERR_INVALID_ARG_TYPE');
  const range = to - from;
  if (!(range > 0 && range <= 2 ** 48 - 1)) throw coded(new RangeError(`The value of "max" is out of range. It must be greater than the value of "min" (${from}). Received ${to}`), 'ERR_OUT_OF_RANGE');
  const limit = 2 ** 48 - (2 ** 48 % range);
  const make = () => {
    for (;;) {
      const drawn = randomBytes(6).readUIntBE(0, 6);
      if (drawn < limit) return from + (drawn % range);
    }
  };
  if (callback === undefined) return make();
  later(callback, make);
};
export const timingSafeEqual = (left, right) => {
  const [a, b] = [bytesOf(left, undefined, 'buf1'), bytesOf(right, undefined, 'buf2')];
  if (typeof left === 'string' || typeof right === 'string') throw coded(new TypeError('The arguments of `timingSafeEqual` must be buffers.'), 'ERR_INVALID_ARG_TYPE');
  if (a.length !== b.length) throw coded(new RangeError('Input buffers must have the same byte length'), 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH');
  let different = 0;
  for (let i = 0; i < a.length; i++) different |= a[i] ^ b[i];
  return different === 0;
};
export const pbkdf2Sync = (password, salt, iterations, length, name) =>
  given(derive(algorithm(name, `Invalid digest: ${name}`), bytesOf(password, 'utf8', 'password'), bytesOf(salt, 'utf8', 'salt'), { c: iterations, dkLen: length }));
export const pbkdf2 = (password, salt, iterations, length, name, callback) => later(callback, () => pbkdf2Sync(password, salt, iterations, length, name));
export const hkdfSync = (name, key, salt, info, length) => {
  const made = hkdf(algorithm(name, `Invalid digest: ${name}`), bytesOf(key, 'utf8', 'ikm'), bytesOf(salt, 'utf8', 'salt'), bytesOf(info, 'utf8', 'info'), length);
  return made.buffer.slice(made.byteOffset, made.byteOffset + made.byteLength);
};
export const scryptSync = (password, salt, length, options = {}) => {
  const N = options.N ?? options.cost ?? 16384;
  const r = options.r ?? options.blockSize ?? 8;
  const p = options.p ?? options.parallelization ?? 1;
  const maxmem = options.maxmem ?? 32 << 20;
  return given(stretch(bytesOf(password, 'utf8', 'password'), bytesOf(salt, 'utf8', 'salt'), { N, r, p, dkLen: length, maxmem: maxmem + 4096 }));
};
export const scrypt = (password, salt, length, ...rest) => {
  const callback = rest.pop();
  later(callback, () => scryptSync(password, salt, length, ...rest));
};
export const constants = {};
