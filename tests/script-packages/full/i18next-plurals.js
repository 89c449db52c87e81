import i18next from "i18next";

export default async function () {
  const i18n = i18next.createInstance();
  await i18n.init({ lng: "en", resources: { en: { translation: { item_one: "{{count}} item", item_other: "{{count}} items", place_ordinal_one: "{{count}}st", place_ordinal_two: "{{count}}nd", place_ordinal_other: "{{count}}th", price: "{{n, number}}" } } } });
  return [i18n.t("item", { count: 1 }), i18n.t("item", { count: 5 }), i18n.t("place", { count: 2, ordinal: true }), i18n.t("price", { n: 1234.5 })];
}
