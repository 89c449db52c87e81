import jmespath from "jmespath";

export default function () {
  const data = { people: [{ name: "b", age: 30, tags: ["x", "y"] }, { name: "á", age: 20, tags: [] }, { name: "a", age: 25, tags: ["z"] }], "odd key": { n: null } };
  const queries = ["people[?age > `22`].name | sort(@)", "people[*].tags[]", "length(people)", "sort_by(people, &age)[0].name", "{names: people[].name, oldest: max_by(people, &age).name}", '"odd key".n', "people[-1]", "join(', ', people[].name)"];
  const error = (() => { try { jmespath.search(data, "people[?"); } catch (caught) { return [caught.name, caught.message]; } })();
  return [queries.map(query => jmespath.search(data, query)), error];
}
