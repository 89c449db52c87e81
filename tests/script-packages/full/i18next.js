import i18next from "i18next";

export default async function () {
  const i18n = i18next.createInstance();
  await i18n.init({ lng: "de", fallbackLng: "en", resources: { en: { translation: { hi: "Hi {{name}}", only: "English", deep: { k: "K" }, list: ["a", "b"] } }, de: { translation: { hi: "Hallo {{name}}, $t(deep.k)", nested: "x {{v.y, upper}}", male: "er", ctx_male: "Er", ctx: "Es" } } }, interpolation: { escapeValue: true, format: (value, format) => (format === "upper" ? value.toUpperCase() : value) } });
  i18n.addResourceBundle("de", "translation", { deep: { k: "Größe" } }, true, true);
  const changed = [];
  i18n.on("languageChanged", language => changed.push(language));
  await i18n.changeLanguage("en");
  return [i18n.getFixedT("de")("hi", { name: "<Zoë>" }), i18n.t("hi", { name: "x" }), i18n.t("only"), i18n.t("nope", "default"), i18n.t("list", { returnObjects: true }), changed, i18n.getFixedT("de")("ctx", { context: "male" }), i18n.exists("deep.k"), i18n.dir("ar")];
}
