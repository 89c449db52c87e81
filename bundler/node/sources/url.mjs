import legacy from 'url/url.js';
import punycode from 'node:punycode';

export const { Url, parse, resolve, resolveObject } = legacy;
export const { URL, URLSearchParams } = globalThis;

const wrong = (message, code) => Object.assign(new TypeError(message), { code });
export const format = (given, options) => {
  if (!(given instanceof URL)) return legacy.format(given);
  const { auth = true, fragment = true, search = true, unicode = false } = options ?? {};
  const url = new URL(given.href);
  const host = unicode ? punycode.toUnicode(url.hostname) + (url.port && `:${url.port}`) : url.host;
  const user = auth && (url.username || url.password) ? `${url.username}${url.password && `:${url.password}`}@` : '';
  const slashes = url.href.slice(url.protocol.length).startsWith('//') ? '//' : '';
  return `${url.protocol}${slashes}${user}${host}${url.pathname}${search ? url.search : ''}${fragment ? url.hash : ''}`;
};
export const fileURLToPath = given => {
  const url = typeof given === 'string' ? new URL(given) : given;
  if (url.protocol !== 'file:') throw wrong('The URL must be of scheme file', 'ERR_INVALID_URL_SCHEME');
  if (url.hostname !== '') throw wrong('File URL host must be "localhost" or empty on linux', 'ERR_INVALID_FILE_URL_HOST');
  if (/%2f/i.test(url.pathname)) throw wrong('File URL path must not include encoded / characters', 'ERR_INVALID_FILE_URL_PATH');
  return decodeURIComponent(url.pathname);
};
const encoded = { '%': '%25', '\\': '%5C', '\n': '%0A', '\r': '%0D', '\t': '%09', '?': '%3F', '#': '%23' };
export const pathToFileURL = path => {
  const parts = [];
  for (const part of `${path}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part.replace(/[%\\\n\r\t?#]/g, each => encoded[each]));
  }
  return new URL(`file:///${parts.join('/')}${parts.length > 0 && /\/\.?$/.test(path) ? '/' : ''}`);
};
const domain = text => {
  try {
    return new URL(`ws://${text}`).hostname;
  } catch {
    return '';
  }
};
export const domainToASCII = text => domain(text);
export const domainToUnicode = text => punycode.toUnicode(domain(text));
export const urlToHttpOptions = url => {
  const { protocol, hostname, hash, search, pathname, href, port, username, password } = url;
  const options = {
    __proto__: null, ...url, protocol, hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname, hash, search, pathname, path: `${pathname || ''}${search || ''}`, href,
  };
  if (port !== '') options.port = Number(port);
  if (username || password) options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return options;
};
