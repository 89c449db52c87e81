use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::*;

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
    assert_eq!(roles(judged([("find", Text("c")), ("filter", filter), ("limit", Value)], "")), [Role::Plain; 3]);
    let expr = members([("$expr", members([("$eq", List(vec![Text("$a"), Value]))]))]);
    assert_eq!(roles(judged([("find", Text("c")), ("filter", expr)], "")), [Role::Expression]);
    assert_eq!(roles(stage("$project", members([("a", Value), ("b", members([("$literal", Value)]))]))), [Role::Expression, Role::Plain]);
    assert_eq!(roles(stage("$project", members([("a", members([("$oid", Value)]))]))), [Role::Plain]);
    assert_eq!(roles(stage("$match", members([("a", Value)]))), [Role::Plain]);
    assert_eq!(roles(stage("$limit", Value)), [Role::Plain]);
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
        ([("insert", Text("c")), ("documents", List(vec![]))], "there is no document to insert"),
        ([("drop", Text("c")), ("comment", Text(""))], "`drop` is not a command that a tool can run"),
        ([("findAndModify", Text("c")), ("comment", Text(""))], "is not a command"),
        ([("insert", Text("c")), ("comment", Text(""))], "`insert` needs `documents`"),
    ] {
        let shown = format!("{document:?}");
        assert!(refused(document).contains(expected), "{shown}");
    }
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
    for name in ["$out", "$where", "$collStats"] {
        assert_eq!(may_be_allowed(name), Ok(()));
    }
}
