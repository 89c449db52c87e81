import Fuse from "fuse.js";

export default function () {
  const books = [{ title: "Old Man's War", tags: ["fiction"], author: { name: "Scalzi" } }, { title: "The Lock Artist", tags: ["thriller"], author: { name: "Hamilton" } }, { title: "HTML 5 für Anfänger", tags: ["web", "dev"], author: { name: "Ümit" } }];
  const fuse = new Fuse(books, { keys: [{ name: "title", weight: 2 }, "tags", "author.name"], includeScore: true, includeMatches: true, ignoreDiacritics: true });
  return [fuse.search("lok artst").map(found => [found.refIndex, found.score.toFixed(6), found.matches[0].indices]), fuse.search("umit").map(found => found.item.title), new Fuse(books, { useExtendedSearch: true, keys: ["title"] }).search("=The | 'War | ^HTML").map(found => found.refIndex), fuse.search("zzzz").length, Fuse.createIndex(["title"], books).size()];
}
