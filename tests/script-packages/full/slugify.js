import slugify from "slugify";

export default function () {
  slugify.extend({ "☢": "radioactive" });
  return [slugify("Ünïcode & Straße: 50% ☢!"), slugify("Some Thing_else", { lower: true, strict: true, replacement: "_" }), slugify("ä ö ü", { locale: "de" }), slugify("  trim me - -  "), slugify("Привет мир"), slugify("a.b'c", { remove: /[.']/g })];
}
