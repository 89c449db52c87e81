use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::*;
use crate::{Flaw, Tree, View};

/// A tree for tests.
#[derive(Debug)]
enum Node {
    Text(&'static str),
    Integer(i64),
    Bool(bool),
    Value,
    Members(Vec<(String, Self)>),
    List(Vec<Self>),
}

impl Tree for Node {
    fn view(&self) -> View<'_, Self> {
        match self {
            Self::Text(text) => View::Text(text),
            Self::Integer(number) => View::Integer(*number),
            Self::Bool(truth) => View::Bool(*truth),
            Self::Value => View::Value,
            Self::Members(members) => View::Members(members),
            Self::List(elements) => View::List(elements),
        }
    }
}

use Node::{Bool, Integer, List, Text, Value};

fn members<const N: usize>(members: [(&str, Node); N]) -> Node {
    Node::Members(members.into_iter().map(|(key, node)| (key.to_string(), node)).collect())
}

fn judged<const N: usize>(document: [(&str, Node); N], allow: &str) -> Result<Judged, Vec<Flaw>> {
    let Node::Members(members) = members(document) else { unreachable!() };
    judge(&members, allow)
}

fn refused<const N: usize>(document: [(&str, Node); N]) -> String {
    judged(document, "").unwrap_err().into_iter().map(|flaw| flaw.message).collect::<Vec<_>>().join("; ")
}

fn stage(name: &str, node: Node) -> Result<Judged, Vec<Flaw>> {
    judged([("aggregate", Text("c")), ("pipeline", List(vec![members([(name, node)])]))], "")
}

#[test]
fn a_value_has_the_role_of_its_place() {
    let roles = |judged: Result<Judged, Vec<Flaw>>| judged.unwrap().values.into_iter().map(|(_, role)| role).collect::<Vec<_>>();
    let filter = members([("a", Value), ("$or", List(vec![members([("b", members([("$gt", Value)]))])]))]);
    let found = roles(judged([("find", Text("c")), ("filter", filter), ("limit", Value)], ""));
    assert_eq!(found, [Role::Plain, Role::Plain, Role::Scalar]);
    let expr = members([("$expr", members([("$eq", List(vec![Text("$a"), Value]))]))]);
    assert_eq!(roles(judged([("find", Text("c")), ("filter", expr)], "")), [Role::Expression]);
    assert_eq!(roles(stage("$project", members([("a", Value), ("b", members([("$literal", Value)]))]))), [Role::Expression, Role::Plain]);
    assert_eq!(roles(stage("$project", members([("a", members([("$oid", Value)]))]))), [Role::Plain]);
    assert_eq!(roles(stage("$match", members([("a", Value)]))), [Role::Plain]);
    assert_eq!(roles(stage("$limit", Value)), [Role::Scalar]);
    assert_eq!(roles(stage("$sort", members([("a", Value)]))), [Role::Scalar]);
    let search = members([("text", members([("query", Value), ("path", Text("a"))]))]);
    assert_eq!(roles(stage("$search", search)), [Role::Scalars]);
    let vector = members([("queryVector", Value), ("limit", Value), ("filter", members([("a", Value)]))]);
    assert_eq!(roles(stage("$vectorSearch", vector)), [Role::Scalars, Role::Scalar, Role::Plain]);
    let lookup = [("from", Text("d")), ("let", members([("x", Value)])), ("as", Text("e")), ("pipeline", List(vec![]))];
    assert_eq!(roles(stage("$lookup", members(lookup))), [Role::Expression]);
    let near = members([("near", members([("type", Text("Point")), ("coordinates", List(vec![Value, Value]))])), ("key", Text("at"))]);
    assert_eq!(roles(stage("$geoNear", near)), [Role::Number; 2]);
    let facet = members([("a", List(vec![members([("$set", members([("b", Value)]))])]))]);
    assert_eq!(roles(stage("$facet", facet)), [Role::Expression]);
    assert_eq!(roles(judged([("insert", Text("c")), ("documents", List(vec![members([("a", Value)]), Value]))], "")), [Role::Stored; 2]);
    let update = members([("q", members([("a", Value)])), ("u", members([("$set", members([("b", Value)]))])), ("upsert", Bool(true))]);
    let judged = judged([("update", Text("c")), ("updates", List(vec![update]))], "").unwrap();
    assert!(judged.upserts && !judged.reads);
    assert_eq!(judged.values, [(vec![1, 0, 0, 0], Role::Plain), (vec![1, 0, 1, 0, 0], Role::Stored)]);
}

#[test]
fn what_names_something_is_written_out() {
    for (document, expected) in [
        ([("find", Value), ("filter", members([]))], "the collection must be written out"),
        ([("find", Text("system.users")), ("filter", members([]))], "is not a collection that a tool can use"),
        ([("find", Text("a$b")), ("filter", members([]))], "is not a collection"),
        ([("find", Text("c")), ("filter", Value)], "the conditions must be written out"),
        ([("find", Text("c")), ("projection", members([("a", Value)]))], "no value of the call can stand here"),
        ([("find", Text("c")), ("batchSize", Integer(1))], "`find` has no field `batchSize`"),
        ([("aggregate", Integer(1)), ("pipeline", List(vec![]))], "the collection must be written out"),
        ([("aggregate", Text("c")), ("pipeline", Value)], "a pipeline must be a list"),
        ([("aggregate", Text("c")), ("pipeline", List(vec![Value]))], "a stage must have one key"),
        ([("distinct", Text("c")), ("key", Value)], "no value of the call can stand here"),
        ([("update", Text("c")), ("updates", Value)], "`updates` must be a list"),
        ([("delete", Text("c")), ("deletes", List(vec![members([("q", Value), ("limit", Integer(1))])]))], "the conditions must be"),
        ([("delete", Text("c")), ("deletes", List(vec![members([("q", members([])), ("limit", Value)])]))], "this must be 0 or 1"),
        ([("insert", Text("c")), ("documents", List(vec![]))], "`documents` must have at least 1 element"),
        ([("drop", Text("c")), ("comment", Text(""))], "`drop` is not a command that a tool can run"),
        ([("findAndModify", Text("c")), ("comment", Text(""))], "is not a command"),
        ([("insert", Text("c")), ("comment", Text(""))], "`insert` needs `documents`"),
    ] {
        let shown = format!("{document:?}");
        assert!(refused(document).contains(expected), "{shown}");
    }
    for filter in [
        members([("$or", Value)]),
        members([("$and", List(vec![members([]), Value]))]),
        members([("a", members([("$elemMatch", Value)]))]),
        members([("a", members([("$not", Value)]))]),
        members([("a", members([("$elemMatch", members([("$nor", List(vec![Value]))]))]))]),
    ] {
        let shown = format!("{filter:?}");
        let told = refused([("find", Text("c")), ("filter", filter)]);
        assert!(told.contains("must be written out here"), "{shown}: {told}");
    }
    for field in ["sort", "min", "max", "hint", "collation", "projection"] {
        let told = refused([("find", Text("c")), (field, Value)]);
        assert!(told.contains("must be written out") || told.contains("no value of the call"), "{field}: {told}");
    }
    for (name, node) in [
        ("$sort", Value),
        ("$search", Value),
        ("$search", members([("text", members([("path", Value)]))])),
        ("$searchMeta", members([("queryString", members([("query", Value)]))])),
        ("$set", members([("a", members([("$getField", Value)]))])),
        ("$set", members([("a", members([("$getField", members([("field", Value), ("input", Text("$b"))]))]))])),
    ] {
        let shown = format!("{name} {node:?}");
        let told = stage(name, node).unwrap_err()[0].message.clone();
        assert!(told.contains("must be written out") || told.contains("no value of the call"), "{shown}: {told}");
    }
    let change = |change: Node| {
        let update = members([("q", members([])), ("u", change)]);
        judged([("update", Text("c")), ("updates", List(vec![update]))], "")
    };
    let role = |node: Node| change(node).unwrap().values[0].1;
    assert_eq!(role(members([("$pull", members([("a", Value)]))])), Role::Scalar);
    assert_eq!(role(members([("$pull", members([("a", members([("b", Value)]))]))])), Role::Stored);
    assert_eq!(role(members([("$push", members([("a", members([("$each", List(vec![])), ("$sort", Value)]))]))])), Role::Scalar);
    assert_eq!(role(List(vec![members([("$set", members([("a", Value)]))])])), Role::StoredExpression);
    assert_eq!(role(List(vec![members([("$set", members([("a", members([("$literal", Value)]))]))])])), Role::Stored);
    assert!(change(members([("$pull", Value)])).unwrap_err()[0].message.contains("must be written out"));
    let rename = members([("q", members([])), ("u", members([("$rename", members([("a", Value)]))]))]);
    assert!(refused([("update", Text("c")), ("updates", List(vec![rename]))]).contains("no value of the call can stand here"));
}

#[test]
fn code_and_writing_stages_need_permission() {
    for (name, node) in [("$out", Text("d")), ("$merge", members([("into", Text("d"))]))] {
        let flaws = stage(name, node).unwrap_err();
        assert!(flaws[0].message.contains("writes to a collection") && flaws[0].help.contains(name), "{flaws:?}");
    }
    let out = || [("aggregate", Text("c")), ("pipeline", List(vec![members([("$out", Text("d"))])]))];
    assert!(!judged(out(), "$merge,$out").unwrap().reads);
    let deep = members([("a", List(vec![members([("b", members([("$function", members([("body", Text("x"))]))]))])]))]);
    assert!(stage("$addFields", deep).unwrap_err()[0].message.contains("`$function` runs code on the server"));
    let r#where = || [("find", Text("c")), ("filter", members([("$where", Text("1"))]))];
    assert!(refused(r#where()).contains("`$where` runs code"));
    assert!(judged(r#where(), "$where").unwrap().reads);
    assert!(stage("$changeStream", members([])).unwrap_err()[0].message.contains("waits for changes"));
    assert!(stage("$collStats", members([])).unwrap_err()[0].message.contains("is not known"));
    // Also where it is hidden in another stage.
    let hidden = members([("from", Text("d")), ("as", Text("e")), ("pipeline", List(vec![members([("$out", Text("f"))])]))]);
    assert!(stage("$lookup", hidden).unwrap_err()[0].message.contains("writes to a collection"));
    for (name, expected) in
        [("$match", "needs no permission"), ("$changeStream", "cannot be allowed"), ("x", "is not the name"), ("$a b", "is not the name")]
    {
        assert!(may_be_allowed(name).unwrap_err().contains(expected), "{name}");
    }
    let unjudged = members([("a", members([("$getField", members([("$function", members([("body", Text("x"))]))]))]))]);
    assert!(stage("$set", unjudged).unwrap_err()[0].message.contains("runs code on the server"));
    for name in ["$out", "$where", "$collStats"] {
        assert_eq!(may_be_allowed(name), Ok(()));
    }
}

#[test]
fn code_is_written_out_where_it_is_allowed() {
    let allow = "$accumulator,$function,$where";
    let function = |body: Node, args: Node| members([("$function", members([("body", body), ("args", args), ("lang", Text("js"))]))]);
    let set = |node: Node| judged([("aggregate", Text("c")), ("pipeline", List(vec![members([("$set", members([("a", node)]))])]))], allow);
    let find = |filter: Node| judged([("find", Text("c")), ("filter", filter)], allow);
    let literal = |node: Node| members([("$literal", node)]);
    let accumulator = |key: &str, node: Node| set(members([("$accumulator", members([(key, node)]))]));
    let mut refused = Vec::new();
    for node in [Value, literal(Value), Text("$$b"), members([("$concat", List(vec![Text("a"), Value]))])] {
        refused.push(set(function(node, List(vec![]))));
    }
    for node in [Value, literal(Value), members([("$concat", List(vec![Value]))])] {
        refused.push(find(members([("$where", node)])));
    }
    refused.extend([set(members([("$function", Value)])), find(members([("$expr", function(Value, List(vec![])))]))]);
    refused.push(judged(
        [("find", Text("c")), ("let", members([("b", Value)])), ("projection", members([("a", function(Text("$$b"), List(vec![])))]))],
        allow,
    ));
    refused.extend(["init", "accumulate", "merge", "finalize", "lang"].map(|key| accumulator(key, Value)));
    for judged in refused {
        let flaws = judged.unwrap_err();
        assert!(flaws[0].message.contains("must be written out"), "{flaws:?}");
    }
    let roles = |judged: Result<Judged, Vec<Flaw>>| judged.unwrap().values.into_iter().map(|(_, role)| role).collect::<Vec<_>>();
    assert_eq!(roles(set(function(Text("function(a) { return a }"), List(vec![Value])))), [Role::Expression]);
    assert_eq!(roles(accumulator("initArgs", Value)), [Role::Expression]);
    assert_eq!(roles(accumulator("accumulateArgs", List(vec![Value, Text("$a")]))), [Role::Expression]);
    assert_eq!(roles(find(members([("$where", Text("this.a == 1"))]))), []);
}
