// The names of locales.
const TAG = /^([a-z]{2,3}(-[a-z]{3}){0,3}|[a-z]{5,8})(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*(-[a-wyz\d](-[a-z\d]{2,8})+)*(-x(-[a-z\d]{1,8})+)?$/i;
export const written = tag => {
  if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('a locale must be a text');
  const text = String(tag);
  if (!TAG.test(text)) throw new RangeError(`Incorrect locale information provided: ${text}`);
  let isExtension = false;
  return text
    .toLowerCase()
    .split('-')
    .map((part, at) => {
      isExtension ||= part.length === 1;
      if (isExtension || at === 0) return part;
      if (part.length === 2) return part.toUpperCase();
      return part.length === 4 && !/^\d/.test(part) ? part[0].toUpperCase() + part.slice(1) : part;
    })
    .join('-');
};
export const getCanonicalLocales = locales => {
  if (locales === undefined) return [];
  const list = typeof locales === 'string' ? [locales] : Array.from(Object(locales));
  return [...new Set(list.map(written))];
};
