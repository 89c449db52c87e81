// `crypto.subtle`. The host computes (adapters/script/src/crypto.rs); here is what the standard says of algorithms, usages and formats. A key is
// bytes: those of a secret, or the structure SPKI or PKCS #8. Part of an image where a program names it.
((native, web) => {
  'use strict';

  const { need, isObject, view, tag } = web;
  const { DOMException, Uint8Array, JSON } = globalThis;

  const failure = (name, text) => new DOMException(text, name);
  const secret = Object.freeze({});
  const copied = (data, what) => {
    try {
      return view(data).slice();
    } catch {
      throw new TypeError(`${what} must be an \`ArrayBuffer\` or a view of one`);
    }
  };
  const joined = parts => {
    let length = 0;
    for (const part of parts) length += part.length;
    const all = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  };
  const toBase64 = bytes => bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
  const fromBase64 = text => {
    try {
      if (/[=+/\s]/.test(text)) throw new SyntaxError('padding');
      return Uint8Array.fromBase64(text, { alphabet: 'base64url' });
    } catch {
      throw failure('DataError', 'a member of the JSON Web Key is not base64url');
    }
  };

  // algorithms

  const AES = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
  const DERIVES = ['deriveKey', 'deriveBits'];
  const PUBLIC_FORMATS = ['jwk', 'spki', 'pkcs8'];
  const RSA = { kind: 'RSA', kty: 'RSA', formats: PUBLIC_FORMATS };
  const EC = { kind: 'EC', kty: 'EC', formats: [...PUBLIC_FORMATS, 'raw'] };
  const ALGORITHMS = {
    __proto__: null,
    HMAC: { kind: 'secret', secret: ['sign', 'verify'], formats: ['raw', 'jwk'] },
    'AES-GCM': { kind: 'secret', secret: AES, formats: ['raw', 'jwk'] },
    'AES-CBC': { kind: 'secret', secret: AES, formats: ['raw', 'jwk'] },
    'AES-CTR': { kind: 'secret', secret: AES, formats: ['raw', 'jwk'] },
    'AES-KW': { kind: 'secret', secret: ['wrapKey', 'unwrapKey'], formats: ['raw', 'jwk'] },
    PBKDF2: { kind: 'secret', secret: DERIVES, formats: ['raw'] },
    HKDF: { kind: 'secret', secret: DERIVES, formats: ['raw'] },
    'RSASSA-PKCS1-v1_5': { ...RSA, public: ['verify'], private: ['sign'], jwk: 'RS' },
    'RSA-PSS': { ...RSA, public: ['verify'], private: ['sign'], jwk: 'PS' },
    'RSA-OAEP': { ...RSA, public: ['encrypt', 'wrapKey'], private: ['decrypt', 'unwrapKey'], jwk: 'RSA-OAEP' },
    ECDSA: { ...EC, public: ['verify'], private: ['sign'] },
    ECDH: { ...EC, public: [], private: DERIVES },
    Ed25519: { kind: 'OKP', kty: 'OKP', formats: EC.formats, public: ['verify'], private: ['sign'] },
  };
  const HASHES = { __proto__: null, 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128 };
  const CURVES = { __proto__: null, 'P-256': 256, 'P-384': 384 };
  const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
  // What stands before the bytes of a public key in SPKI.
  const SPKI = {
    __proto__: null,
    'P-256': Uint8Array.fromHex('3059301306072a8648ce3d020106082a8648ce3d030107034200'),
    'P-384': Uint8Array.fromHex('3076301006072a8648ce3d020106052b81040022036200'),
    Ed25519: Uint8Array.fromHex('302a300506032b6570032100'),
  };
  const RAW_LENGTH = { __proto__: null, 'P-256': 65, 'P-384': 97, Ed25519: 32 };

  const nameOf = (algorithm, known, what) => {
    const given = isObject(algorithm) ? algorithm.name : algorithm;
    if (given === undefined) throw new TypeError(`${what} must have a \`name\``);
    const upper = `${given}`.toUpperCase();
    for (const name of Object.keys(known)) if (name.toUpperCase() === upper) return name;
    throw failure('NotSupportedError', `\`${given}\` is not supported as ${what}; these are: ${Object.keys(known).join(', ')}`);
  };
  // The algorithm as an object whose `name` is that of the standard. It has to do what is asked for, if that is said.
  const normal = (algorithm, usage = undefined) => {
    const name = nameOf(algorithm, ALGORITHMS, 'an algorithm of `crypto.subtle`');
    const { secret: own, public: open, private: closed } = ALGORITHMS[name];
    if (usage !== undefined && ![own, open, closed].some(usages => usages?.includes(usage))) {
      throw failure('NotSupportedError', `\`${name}\` does not do \`${usage}\``);
    }
    return isObject(algorithm) ? { ...algorithm, name } : { name };
  };
  const hashOf = algorithm => {
    if (algorithm.hash === undefined) throw new TypeError(`\`hash\` of \`${algorithm.name}\` is missing`);
    return nameOf(algorithm.hash, HASHES, 'a hash');
  };
  const curveOf = algorithm => {
    if (algorithm.namedCurve === undefined) throw new TypeError(`\`namedCurve\` of \`${algorithm.name}\` is missing`);
    if (CURVES[algorithm.namedCurve] === undefined) {
      throw failure('NotSupportedError', `the curve \`${algorithm.namedCurve}\` is not supported; P-256 and P-384 are`);
    }
    return algorithm.namedCurve;
  };
  const integer = (value, name, most) => {
    const number = Number(value);
    if (value === undefined || !(number >= 0 && number <= most)) throw new TypeError(`\`${name}\` must be a number from 0 to ${most}`);
    return Math.trunc(number);
  };

  // keys

  const shown = algorithm => {
    const copy = { ...algorithm };
    if (copy.hash !== undefined) copy.hash = { ...copy.hash };
    if (copy.publicExponent !== undefined) copy.publicExponent = copy.publicExponent.slice();
    return copy;
  };
  let inside;
  class CryptoKey {
    #key;
    constructor(token, key) {
      if (token !== secret) throw new TypeError('`CryptoKey` cannot be constructed; use `crypto.subtle`');
      this.#key = key;
    }
    get type() {
      return this.#key.type;
    }
    get extractable() {
      return this.#key.extractable;
    }
    // What is handed out is a copy, always the same one: what becomes of it changes nothing of the key.
    get algorithm() {
      return (this.#key.shownAlgorithm ??= shown(this.#key.algorithm));
    }
    get usages() {
      return (this.#key.shownUsages ??= [...this.#key.usages]);
    }
    static {
      inside = key => {
        if (!isObject(key) || !(#key in key)) throw new TypeError('a `CryptoKey` is expected');
        return key.#key;
      };
    }
  }
  const usagesOf = usages => {
    const given = [...usages].map(usage => `${usage}`);
    for (const usage of given) if (!USAGES.includes(usage)) throw new TypeError(`\`${usage}\` is not a usage of a key`);
    return given.filter((usage, at) => given.indexOf(usage) === at);
  };
  const checkUsages = (name, type, usages) => {
    const allowed = ALGORITHMS[name][type];
    for (const usage of usages) {
      if (!allowed.includes(usage)) throw failure('SyntaxError', `a ${type} key of \`${name}\` cannot be used for \`${usage}\``);
    }
    if (usages.length === 0 && type !== 'public') throw failure('SyntaxError', `a ${type} key of \`${name}\` needs a usage`);
  };
  const made = (type, algorithm, bytes, extractable, usages) => new CryptoKey(secret, { type, algorithm, bytes, extractable: !!extractable, usages });
  const may = (key, name, usage) => {
    if (key.algorithm.name !== name) throw failure('InvalidAccessError', `the key is one of \`${key.algorithm.name}\`, not of \`${name}\``);
    if (!key.usages.includes(usage)) throw failure('InvalidAccessError', `the key was not made for \`${usage}\``);
  };

  // What the host says: a value and bytes. It tells of what is wrong by the name of an error alone.
  const FAILED = {
    __proto__: null,
    import: 'the key could not be read: it is damaged, or not one of this algorithm and format',
    decrypt: 'the bytes could not be decrypted: they are damaged, or the key or a parameter is another one',
    unwrap: 'the bytes could not be unwrapped: they are damaged, or the key is another one',
  };
  const compute = async (operation, members, ...parts) => {
    const asked = { __proto__: null, operation, ...members, lengths: parts.map(part => part.length) };
    const answer = await native.compute(asked, joined(parts));
    const value = answer[0];
    const bytes = answer[1];
    if (value?.error) throw failure(value.error, value.reason ?? FAILED[operation] ?? `\`${operation}\` failed`);
    return { value, bytes };
  };
  const bufferOf = bytes => bytes.buffer;

  const secretAlgorithm = (algorithm, bytes) => {
    const { name } = algorithm;
    const bits = bytes.length * 8;
    if (name === 'PBKDF2' || name === 'HKDF') return { name };
    if (name === 'HMAC') {
      const hash = hashOf(algorithm);
      if (bits === 0) throw failure('DataError', 'a key of `HMAC` must not be empty');
      if (algorithm.length !== undefined && Number(algorithm.length) !== bits) {
        throw failure(Number(algorithm.length) > bits || Number(algorithm.length) <= bits - 8 ? 'DataError' : 'NotSupportedError', '`length` is not that of the key');
      }
      return { name, hash: { name: hash }, length: bits };
    }
    if (bits !== 128 && bits !== 192 && bits !== 256) throw failure('DataError', `a key of \`${name}\` has 128, 192 or 256 bits`);
    return { name, length: bits };
  };
  const jwkName = ({ name, hash, length }) => {
    if (name === 'HMAC') return hash.name === 'SHA-1' ? 'HS1' : `HS${hash.name.slice(4)}`;
    if (ALGORITHMS[name].kind === 'secret') return `A${length}${name.slice(4)}`;
    if (name === 'RSA-OAEP') return hash.name === 'SHA-1' ? name : `${name}-${hash.name.slice(4)}`;
    const prefix = ALGORITHMS[name].jwk;
    return prefix && `${prefix}${hash.name === 'SHA-1' ? 1 : hash.name.slice(4)}`;
  };
  // What is the same of all JSON Web Keys.
  const checkJwk = (jwk, kty, algorithm, extractable, usages) => {
    const wrong = what => failure('DataError', `the JSON Web Key ${what}`);
    if (jwk.kty !== kty) throw wrong(`must have \`kty\` "${kty}"`);
    if (jwk.ext === false && extractable) throw wrong('has `ext: false`, so the key cannot be extractable');
    if (Array.isArray(jwk.key_ops) && usages.some(usage => !jwk.key_ops.includes(usage))) throw wrong('has `key_ops` without a usage that was asked for');
    const isForSigning = usages.some(usage => usage === 'sign' || usage === 'verify');
    if (jwk.use !== undefined && usages.length > 0 && jwk.use !== (isForSigning ? 'sig' : 'enc')) throw wrong('has another `use`');
    const alg = jwkName(algorithm);
    if (jwk.alg !== undefined && alg !== undefined && jwk.alg !== alg) throw wrong(`has another \`alg\` than "${alg}"`);
  };

  const importSecret = (format, data, algorithm, extractable, usages) => {
    const { name } = algorithm;
    checkUsages(name, 'secret', usages);
    if (extractable && (name === 'PBKDF2' || name === 'HKDF')) throw failure('SyntaxError', `a key of \`${name}\` cannot be extractable`);
    if (format === 'raw') return made('secret', secretAlgorithm(algorithm, data), data, extractable, usages);
    if (data.kty !== 'oct' || typeof data.k !== 'string') throw failure('DataError', 'the JSON Web Key must have `kty` "oct" and `k`');
    const bytes = fromBase64(data.k);
    const full = secretAlgorithm(algorithm, bytes);
    checkJwk(data, 'oct', full, extractable, usages);
    return made('secret', full, bytes, extractable, usages);
  };
  const importPair = async (format, data, algorithm, extractable, usages) => {
    const { name } = algorithm;
    const { kind, kty } = ALGORITHMS[name];
    const curve = kind === 'EC' ? curveOf(algorithm) : kind === 'OKP' ? name : undefined;
    const hash = kind === 'RSA' ? hashOf(algorithm) : undefined;
    const type = format === 'pkcs8' || (format === 'jwk' && data.d !== undefined) ? 'private' : 'public';
    checkUsages(name, type, usages);
    let told;
    if (format === 'jwk') {
      checkJwk(data, kty, { name, hash: { name: hash ?? '' } }, extractable, usages);
      if (data.oth !== undefined) throw failure('NotSupportedError', 'a JSON Web Key with more than two primes (`oth`) is not supported');
      if (curve !== undefined && data.crv !== curve) throw failure('DataError', `the JSON Web Key must have \`crv\` "${curve}"`);
      const members = {};
      for (const member of ['kty', 'crv', 'x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi']) {
        if (data[member] !== undefined) members[member] = toBase64OrText(member, data[member]);
      }
      told = await compute('import', { name, hash, curve, type, format, jwk: members });
    } else {
      let bytes = data;
      if (format === 'raw') {
        if (data.length !== RAW_LENGTH[curve]) throw failure('DataError', `a raw key of \`${curve}\` has ${RAW_LENGTH[curve]} bytes`);
        bytes = joined([SPKI[curve], data]);
      }
      told = await compute('import', { name, hash, curve, type, format: format === 'raw' ? 'spki' : format }, bytes);
    }
    return made(type, pairAlgorithm(name, hash, curve, told.value), told.bytes, extractable, usages);
  };
  const toBase64OrText = (member, value) => {
    if (member !== 'kty' && member !== 'crv') fromBase64(`${value}`);
    return `${value}`;
  };
  const pairAlgorithm = (name, hash, curve, told) => {
    if (ALGORITHMS[name].kind === 'OKP') return { name };
    if (curve !== undefined) return { name, namedCurve: curve };
    return { name, modulusLength: told.modulusLength, publicExponent: new Uint8Array(told.publicExponent), hash: { name: hash } };
  };
  const FORMATS = ['raw', 'jwk', 'spki', 'pkcs8'];
  const formatOf = (format, algorithm) => {
    const text = `${format}`;
    if (!FORMATS.includes(text)) throw new TypeError(`\`${text}\` is not a format of a key; it is one of ${FORMATS.join(', ')}`);
    if (!ALGORITHMS[algorithm].formats.includes(text)) {
      throw failure('NotSupportedError', `a key of \`${algorithm}\` does not have the format \`${text}\``);
    }
    return text;
  };
  const imported = async (format, data, given, extractable, usages) => {
    const algorithm = normal(given);
    const form = formatOf(format, algorithm.name);
    if (form === 'jwk' && (!isObject(data) || data instanceof ArrayBuffer || ArrayBuffer.isView(data))) {
      throw new TypeError('a key in the format `jwk` must be an object');
    }
    const content = form === 'jwk' ? { ...data } : copied(data, 'the key');
    const importing = ALGORITHMS[algorithm.name].kind === 'secret' ? importSecret : importPair;
    return importing(form, content, algorithm, !!extractable, usagesOf(usages));
  };
  // Bytes, or an object for `jwk`.
  const exported = async (format, key) => {
    const { type, algorithm, bytes, extractable, usages } = key;
    const { name } = algorithm;
    const form = formatOf(format, name);
    if (!extractable) throw failure('InvalidAccessError', 'the key is not extractable');
    if (form === 'jwk') {
      const ends = { alg: jwkName(algorithm), key_ops: [...usages], ext: true };
      if (ends.alg === undefined) delete ends.alg;
      if (type === 'secret') return { key_ops: ends.key_ops, ext: true, kty: 'oct', k: toBase64(bytes), alg: ends.alg };
      const curve = algorithm.namedCurve ?? (ALGORITHMS[name].kind === 'OKP' ? name : undefined);
      const { value } = await compute('export', { name, hash: algorithm.hash?.name, curve, type }, bytes);
      return { key_ops: ends.key_ops, ext: true, ...value.jwk, ...(ends.alg && { alg: ends.alg }) };
    }
    if (type === 'secret') return bytes.slice();
    const needed = form === 'pkcs8' ? 'private' : 'public';
    if (type !== needed) throw failure('InvalidAccessError', `a ${type} key does not have the format \`${form}\``);
    if (form !== 'raw') return bytes.slice();
    return bytes.slice(-RAW_LENGTH[algorithm.namedCurve ?? name]);
  };

  // operations

  const wholeBits = (length, name) => {
    if (length === null || length === undefined) throw failure('OperationError', `\`length\` of \`${name}\` is missing`);
    const bits = integer(length, 'length', 0xffffffff);
    if (bits % 8 !== 0) throw failure('OperationError', '`length` must be a multiple of 8');
    return bits / 8;
  };
  const signing = (algorithm, key) => {
    const { name } = algorithm;
    const members = { name, type: key.type, curve: key.algorithm.namedCurve, hash: key.algorithm.hash?.name };
    if (name === 'ECDSA') members.hash = hashOf(algorithm);
    if (name === 'RSA-PSS') members.saltLength = integer(algorithm.saltLength, 'saltLength', 0xffffffff);
    return members;
  };
  const ciphering = algorithm => {
    const { name } = algorithm;
    const bytes = (value, what) => copied(value, `\`${what}\` of \`${name}\``);
    if (name === 'RSA-OAEP') return [{}, algorithm.label === undefined ? new Uint8Array() : bytes(algorithm.label, 'label')];
    if (name === 'AES-GCM') {
      const iv = bytes(algorithm.iv, 'iv');
      if (iv.length !== 12 && iv.length !== 16) throw failure('NotSupportedError', '`iv` of `AES-GCM` must have 12 or 16 bytes');
      const tagLength = algorithm.tagLength === undefined ? 128 : Number(algorithm.tagLength);
      if (![32, 64, 96, 104, 112, 120, 128].includes(tagLength)) throw failure('OperationError', '`tagLength` of `AES-GCM` must be 96, 104, 112, 120 or 128');
      if (tagLength < 96) throw failure('NotSupportedError', `a tag of ${tagLength} bits is not supported; use 96 to 128`);
      const additional = algorithm.additionalData === undefined ? new Uint8Array() : bytes(algorithm.additionalData, 'additionalData');
      return [{ tagLength }, iv, additional];
    }
    if (name === 'AES-CBC') {
      const iv = bytes(algorithm.iv, 'iv');
      if (iv.length !== 16) throw failure('OperationError', '`iv` of `AES-CBC` must have 16 bytes');
      return [{}, iv];
    }
    const counter = bytes(algorithm.counter, 'counter');
    if (counter.length !== 16) throw failure('OperationError', '`counter` of `AES-CTR` must have 16 bytes');
    const length = integer(algorithm.length, 'length', 255);
    if (length < 1 || length > 128) throw failure('OperationError', '`length` of `AES-CTR` must be 1 to 128');
    if (![32, 64, 128].includes(length)) throw failure('NotSupportedError', `a counter of ${length} bits is not supported; use 32, 64 or 128`);
    return [{ counterLength: length }, counter];
  };
  const crypted = async (operation, usage, given, key, data) => {
    const algorithm = normal(given, usage);
    const { name } = algorithm;
    const held = inside(key);
    const content = copied(data, 'the data');
    if (name === 'AES-KW') {
      may(held, name, usage);
      const isWrapping = usage === 'wrapKey';
      if (content.length % 8 !== 0 || content.length < (isWrapping ? 16 : 24)) throw failure('OperationError', '`AES-KW` takes a multiple of 8 bytes, and at least 16');
      return (await compute(isWrapping ? 'wrap' : 'unwrap', { name }, held.bytes, content)).bytes;
    }
    const [members, ...parts] = ciphering(algorithm);
    may(held, name, usage);
    const told = { name, hash: held.algorithm.hash?.name, type: held.type, ...members };
    return (await compute(operation, told, held.bytes, content, ...parts)).bytes;
  };
  const bitsOf = async (given, key, length, usage) => {
    const algorithm = normal(given, usage);
    const { name } = algorithm;
    const held = inside(key);
    if (name === 'PBKDF2' || name === 'HKDF') {
      const hash = hashOf(algorithm);
      const salt = copied(algorithm.salt, `\`salt\` of \`${name}\``);
      const info = name === 'HKDF' ? copied(algorithm.info, '`info` of `HKDF`') : new Uint8Array();
      const iterations = name === 'PBKDF2' ? integer(algorithm.iterations, 'iterations', 0xffffffff) : 0;
      if (name === 'PBKDF2' && iterations === 0) throw failure('OperationError', '`iterations` of `PBKDF2` must not be 0');
      may(held, name, usage);
      return (await compute('derive', { name, hash, iterations, bytes: wholeBits(length, name) }, held.bytes, salt, info)).bytes;
    }
    const other = inside(algorithm.public);
    may(held, name, usage);
    if (other.type !== 'public' || other.algorithm.name !== name || other.algorithm.namedCurve !== held.algorithm.namedCurve) {
      throw failure('InvalidAccessError', '`public` of `ECDH` must be a public key of the same curve');
    }
    const { bytes } = await compute('derive', { name, curve: held.algorithm.namedCurve }, held.bytes, other.bytes);
    if (length === null || length === undefined) return bytes;
    const bits = integer(length, 'length', 0xffffffff);
    if (bits > bytes.length * 8) throw failure('OperationError', `the secret has ${bytes.length * 8} bits only`);
    const part = bytes.slice(0, Math.ceil(bits / 8));
    if (bits % 8 !== 0) part[part.length - 1] &= 0xff << (8 - (bits % 8));
    return part;
  };
  const secretLength = algorithm => {
    const { name } = algorithm;
    if (name === 'HMAC') {
      const bits = algorithm.length === undefined ? HASHES[hashOf(algorithm)] * 8 : integer(algorithm.length, 'length', 0xffffffff);
      if (bits === 0 || bits % 8 !== 0 || bits > 65536) throw failure('OperationError', '`length` of `HMAC` must be a multiple of 8, at most 65536');
      return bits;
    }
    const bits = integer(algorithm.length, 'length', 65535);
    if (bits !== 128 && bits !== 192 && bits !== 256) throw failure('OperationError', `a key of \`${name}\` has 128, 192 or 256 bits`);
    return bits;
  };
  const generated = async (given, extractable, usages) => {
    const algorithm = normal(given);
    const { name } = algorithm;
    const { kind } = ALGORITHMS[name];
    const asked = usagesOf(usages);
    if (kind === 'secret') {
      if (!ALGORITHMS[name].formats.includes('jwk')) throw failure('NotSupportedError', `keys of \`${name}\` are not generated`);
      checkUsages(name, 'secret', asked);
      const bytes = native.random(secretLength(algorithm) / 8);
      return made('secret', secretAlgorithm({ ...algorithm, length: undefined }, bytes), bytes, extractable, asked);
    }
    for (const usage of asked) {
      if (!ALGORITHMS[name].public.includes(usage) && !ALGORITHMS[name].private.includes(usage)) {
        throw failure('SyntaxError', `a key of \`${name}\` cannot be used for \`${usage}\``);
      }
    }
    const curve = kind === 'EC' ? curveOf(algorithm) : kind === 'OKP' ? name : undefined;
    const hash = kind === 'RSA' ? hashOf(algorithm) : undefined;
    const members = { name, hash, curve };
    if (kind === 'RSA') {
      members.modulusLength = integer(algorithm.modulusLength, 'modulusLength', 0xffffffff);
      const exponent = copied(algorithm.publicExponent, '`publicExponent`').toHex();
      if (!/^(00)*010001$/.test(exponent)) throw failure('OperationError', '`publicExponent` must be 65537: `new Uint8Array([1, 0, 1])`');
      if (![2048, 3072, 4096].includes(members.modulusLength)) throw failure('NotSupportedError', '`modulusLength` must be 2048, 3072 or 4096');
    }
    const ofPrivate = asked.filter(usage => ALGORITHMS[name].private.includes(usage));
    checkUsages(name, 'private', ofPrivate);
    const { value, bytes } = await compute('generate', members);
    const full = pairAlgorithm(name, hash, curve, { modulusLength: members.modulusLength, publicExponent: [1, 0, 1] });
    return {
      publicKey: made('public', full, bytes.slice(value.private), true, asked.filter(usage => ALGORITHMS[name].public.includes(usage))),
      privateKey: made('private', full, bytes.slice(0, value.private), extractable, ofPrivate),
    };
  };
  const jsonBytes = value => native.utf8Encode(JSON.stringify(value));

  class SubtleCrypto {
    constructor(token) {
      if (token !== secret) throw new TypeError('`SubtleCrypto` cannot be constructed; use `crypto.subtle`');
    }
    async digest(algorithm, data) {
      need(arguments.length, 2, 'digest');
      const name = nameOf(algorithm, HASHES, 'a hash');
      return bufferOf(native.digest(name, copied(data, 'the data')));
    }
    async importKey(format, data, algorithm, extractable, usages) {
      need(arguments.length, 5, 'importKey');
      return imported(format, data, algorithm, extractable, usages);
    }
    async exportKey(format, key) {
      need(arguments.length, 2, 'exportKey');
      const out = await exported(format, inside(key));
      return `${format}` === 'jwk' ? out : bufferOf(out);
    }
    async generateKey(algorithm, extractable, usages) {
      need(arguments.length, 3, 'generateKey');
      return generated(algorithm, extractable, usages);
    }
    async sign(given, key, data) {
      need(arguments.length, 3, 'sign');
      const algorithm = normal(given, 'sign');
      const held = inside(key);
      const content = copied(data, 'the data');
      may(held, algorithm.name, 'sign');
      return bufferOf((await compute('sign', signing(algorithm, held), held.bytes, content)).bytes);
    }
    async verify(given, key, signature, data) {
      need(arguments.length, 4, 'verify');
      const algorithm = normal(given, 'verify');
      const held = inside(key);
      const signed = copied(signature, 'the signature');
      const content = copied(data, 'the data');
      may(held, algorithm.name, 'verify');
      return (await compute('verify', signing(algorithm, held), held.bytes, content, signed)).value.isSigned;
    }
    async encrypt(algorithm, key, data) {
      need(arguments.length, 3, 'encrypt');
      return bufferOf(await crypted('encrypt', 'encrypt', algorithm, key, data));
    }
    async decrypt(algorithm, key, data) {
      need(arguments.length, 3, 'decrypt');
      return bufferOf(await crypted('decrypt', 'decrypt', algorithm, key, data));
    }
    async deriveBits(algorithm, key, length = null) {
      need(arguments.length, 2, 'deriveBits');
      return bufferOf(await bitsOf(algorithm, key, length, 'deriveBits'));
    }
    async deriveKey(algorithm, key, derived, extractable, usages) {
      need(arguments.length, 5, 'deriveKey');
      const target = normal(derived);
      if (ALGORITHMS[target.name].kind !== 'secret') throw failure('NotSupportedError', `a key of \`${target.name}\` cannot be derived`);
      const isAny = target.name === 'PBKDF2' || target.name === 'HKDF';
      const bytes = await bitsOf(algorithm, key, isAny ? null : secretLength(target), 'deriveKey');
      return importSecret('raw', bytes, { ...target, length: undefined }, !!extractable, usagesOf(usages));
    }
    async wrapKey(format, key, wrapping, algorithm) {
      need(arguments.length, 4, 'wrapKey');
      const out = await exported(format, inside(key));
      return bufferOf(await crypted('encrypt', 'wrapKey', algorithm, wrapping, `${format}` === 'jwk' ? jsonBytes(out) : out));
    }
    async unwrapKey(format, wrapped, unwrapping, algorithm, keyAlgorithm, extractable, usages) {
      need(arguments.length, 7, 'unwrapKey');
      const bytes = await crypted('decrypt', 'unwrapKey', algorithm, unwrapping, wrapped);
      let data = bytes;
      if (`${format}` === 'jwk') {
        try {
          data = JSON.parse(native.utf8Decode(bytes, true, false));
        } catch {
          throw failure('DataError', 'what was unwrapped is not a JSON Web Key');
        }
      }
      return imported(format, data, keyAlgorithm, extractable, usages);
    }
  }
  tag(CryptoKey, 'CryptoKey');
  tag(SubtleCrypto, 'SubtleCrypto');
  return { globals: { CryptoKey, SubtleCrypto }, subtle: new SubtleCrypto(secret) };
})
