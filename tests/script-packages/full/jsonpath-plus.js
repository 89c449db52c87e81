import { JSONPath } from "jsonpath-plus";

export default function () {
  const json = { store: { book: [{ title: "a", price: 8.95 }, { title: "é", price: 12.99, isbn: "0-1" }, { title: "c", price: 22 }], bicycle: { price: 19.95 } } };
  return ["$..price", "$.store.book[?(@.price < 20)].title", "$..book[-1:]", "$.store.book[0,1].title", "$..book[?(@.isbn)]", "$.store.*~"].map(path => JSONPath({ path, json }))
    .concat([JSONPath({ path: "$..bicycle", json, resultType: "path" }), JSONPath.toPathArray("$['a b'].c[0]")]);
}
