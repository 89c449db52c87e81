import { buildSchema, graphql, GraphQLError, GraphQLObjectType, GraphQLSchema, GraphQLString, parse, print, printSchema, validate, visit } from "graphql";

export default async function () {
  const schema = buildSchema('"""Root""" type Query { user(id: ID!): User list(n: Int = 2): [Int!]! } type User { name: String! friends: [User!] kind: Kind } enum Kind { A B }');
  const rootValue = { user: async ({ id }) => ({ name: "é" + id, kind: "A", friends: [{ name: null }] }), list: ({ n }) => Array.from({ length: n }, (_, i) => i) };
  const result = await graphql({ schema, source: "query Q($id: ID!) { user(id: $id) { ...F friends { name } } list }  fragment F on User { name kind }", rootValue, variableValues: { id: 7 } });
  const errors = validate(schema, parse("{ user { nope } }")).map(error => [error.message, error.locations]);
  const names = [];
  visit(parse("{ a { b } }"), { Field: node => void names.push(node.name.value) });
  const built = new GraphQLSchema({ query: new GraphQLObjectType({ name: "Query", fields: { hi: { type: GraphQLString, args: { who: { type: GraphQLString } }, resolve: (_, { who }) => { if (!who) throw new GraphQLError("who?", { extensions: { code: "X" } }); return `hi ${who}`; } } } }) });
  const caught = (() => { try { parse("{ a("); } catch (error) { return String(error); } })();
  return [result, errors, names, printSchema(schema), await graphql({ schema: built, source: '{ hi x: hi(who: "ä") }' }), print(parse("{a(b:[1,{c:$d}])@skip(if:true)}")), caught];
}
