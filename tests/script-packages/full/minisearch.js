import MiniSearch from "minisearch";

export default function () {
  const index = new MiniSearch({ fields: ["title", "text"], storeFields: ["title"], searchOptions: { boost: { title: 2 }, fuzzy: 0.2 } });
  index.addAll([{ id: 1, title: "Moby Dick", text: "Call me Ishmael. Größe" }, { id: 2, title: "Zen", text: "motorcycle and art" }, { id: 3, title: "Arts", text: "the art of archery, ismael" }]);
  const found = query => index.search(query).map(result => [result.id, result.score.toFixed(5), result.terms]);
  index.remove({ id: 2, title: "Zen", text: "motorcycle and art" });
  return [found("ishmael art"), index.search("größe", { prefix: true }).map(r => r.title), index.autoSuggest("arc").map(s => s.suggestion), MiniSearch.loadJSON(JSON.stringify(index), { fields: ["title", "text"], storeFields: ["title"] }).documentCount, found({ combineWith: "AND", queries: ["the", "archery"] })];
}
