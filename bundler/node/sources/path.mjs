import path from 'path-browserify/index.js';

path.toNamespacedPath = text => text;
export const { basename, delimiter, dirname, extname, format, isAbsolute, join, normalize, parse, posix, relative, resolve, sep, toNamespacedPath } = path;
export default path;
