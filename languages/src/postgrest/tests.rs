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
    Null,
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
            Self::Null => View::Null,
            Self::Value => View::Value,
            Self::Members(members) => View::Members(members),
            Self::List(elements) => View::List(elements),
        }
    }
}

use Node::{Bool, Integer, List, Null, Text, Value};

fn members<const N: usize>(members: [(&str, Node); N]) -> Node {
    Node::Members(members.into_iter().map(|(key, node)| (key.to_string(), node)).collect())
}

fn judged<const N: usize>(request: [(&str, Node); N]) -> Result<Judged, Vec<Flaw>> {
    let Node::Members(members) = members(request) else { unreachable!() };
    judge(&members)
}

/// The conditions of a request that reads.
fn of(conditions: Node) -> Result<Judged, Vec<Flaw>> {
    judged([("from", Text("i")), ("select", Text("*,t(*)")), ("where", conditions)])
}

fn said(judged: Result<Judged, Vec<Flaw>>) -> String {
    judged.unwrap_err().into_iter().map(|flaw| flaw.message).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_value_has_the_role_of_its_place() {
    let roles = |judged: Result<Judged, Vec<Flaw>>| judged.unwrap().values.into_iter().map(|(_, role)| role).collect::<Vec<_>>();
    let operators = members([("eq", Value), ("in", Value), ("cs", Value), ("is", Value), ("not", members([("fts(english)", Value)]))]);
    assert_eq!(roles(of(members([("a", operators)]))), [Role::Parameter, Role::Parameters, Role::Elements, Role::Truth, Role::Parameter]);
    let list = members([("a", members([("in", List(vec![Value, Integer(1)]))])), ("b", members([("cs", members([("k", Value)]))]))]);
    assert_eq!(roles(of(list)), [Role::Parameter, Role::Body]);
    let either =
        members([("or", List(vec![members([("a", members([("eq", Value)]))])])), ("not", members([("b", members([("lt", Value)]))]))]);
    assert_eq!(roles(of(either)), [Role::Parameter, Role::Parameter]);
    assert_eq!(roles(judged([("from", Text("i")), ("limit", Value), ("offset", Value)])), [Role::Number, Role::Number]);
    assert_eq!(roles(judged([("insert", Text("i")), ("rows", List(vec![members([("a", Value)])]))])), [Role::Body]);
    assert_eq!(roles(judged([("insert", Text("i")), ("rows", Value), ("columns", Text("a,b"))])), [Role::Rows]);
    assert_eq!(roles(judged([("rpc", Text("f")), ("arguments", members([("a", List(vec![Value]))]))])), [Role::Body]);
    assert_eq!(roles(judged([("rpc", Text("f")), ("get", Bool(true)), ("arguments", members([("a", Value)]))])), [Role::Parameter]);
}

#[test]
fn it_is_known_what_a_request_changes() {
    let reads = |judged: Result<Judged, Vec<Flaw>>| judged.map(|judged| (judged.reads, judged.has_related)).unwrap();
    assert_eq!(reads(judged([("from", Text("i"))])), (true, false));
    assert_eq!(reads(judged([("from", Text("i")), ("select", List(vec![Text("a"), Text("t(b"), Text("c)")]))])), (true, true));
    assert_eq!(reads(judged([("count", Text("i"))])), (true, false));
    assert_eq!(reads(judged([("rpc", Text("f"))])), (false, false));
    assert_eq!(reads(judged([("rpc", Text("f")), ("get", Bool(false))])), (false, false));
    assert_eq!(reads(judged([("rpc", Text("f")), ("get", Bool(true))])), (true, false));
    let delete = [("delete", Text("i")), ("where", members([("a", members([("eq", Integer(1))]))])), ("returning", Text("t(a)"))];
    assert_eq!(reads(judged(delete)), (false, true));
}

#[test]
fn names_are_the_authors() {
    for (request, expected) in [
        (judged([]), "the request is empty"),
        (judged([("select", Text("i"))]), "`select` is not a request that a tool can send"),
        (judged([("from", Value)]), "the table must be written out as text"),
        (judged([("from", Text("public.items"))]), "`public.items` is not the name of a table"),
        (judged([("from", Text("../rpc/f"))]), "`../rpc/f` is not the name of a table"),
        (judged([("rpc", Text("f?x"))]), "`f?x` is not the name of a function"),
        (judged([("from", Text("i")), ("where", Value)]), "the conditions must be written out"),
        (judged([("from", Text("i")), ("select", Value)]), "it must be written out"),
        (judged([("from", Text("i")), ("order", List(vec![Value]))]), "it must be written out"),
        (judged([("from", Text("i")), ("order", Text("a.down"))]), "`down` is not an order"),
        (judged([("from", Text("i")), ("order", Text("a.nullslast.desc"))]), "has its orders twice"),
        (judged([("from", Text("i")), ("limit", Text("1"))]), "`limit` must be a whole number from 0"),
        (judged([("from", Text("i")), ("limit", Integer(-1))]), "`limit` must be a whole number from 0"),
        (judged([("from", Text("i")), ("single", Value)]), "`single` must be `true` or `false`"),
        (judged([("from", Text("i")), ("rows", Integer(1))]), "`from` has no field `rows`"),
        (judged([("from", Text("i")), ("limit", Integer(1)), ("limit", Integer(2))]), "`limit` is there twice"),
        (of(members([("a", Value)])), "the condition on `a` has no operator"),
        (of(members([("a", members([("equals", Value)]))])), "`equals` is not an operator"),
        (of(members([("a", members([("eq(x)", Value)]))])), "`eq(x)` is not an operator"),
        (of(members([("a", members([("fts(x", Value)]))])), "`fts(x` is not an operator"),
        (of(members([("a", members([("fts(x,y)", Value)]))])), "`fts(x,y)` is not an operator"),
        (of(members([("a.eq.1,b", members([("eq", Value)]))])), "is not the name of a column"),
        (of(members([("a)", members([("eq", Value)]))])), "`a)` is not the name of a column"),
        (of(members([("a->>b.c->", members([("eq", Value)]))])), "is not the name of a column"),
        (of(members([("a", members([("eq", Null)]))])), "`eq` with null is never true"),
        (of(members([("a", members([("is", Integer(1))]))])), "`is` takes `null`"),
        (of(members([("a", members([("in", Text("1,2"))]))])), "`in` must be a list"),
        (of(members([("a", members([("in", List(vec![Null]))]))])), "an element of `in`"),
        (of(members([("a", members([("eq", List(vec![]))]))])), "`eq` takes one value"),
        (of(members([("or", Value)])), "`or` must be a list of conditions, written out"),
        (of(members([("or", List(vec![]))])), "`or` must have at least 1 element"),
        (of(members([("not", members([]))])), "at least 1 condition is required"),
        (of(members([])), "at least 1 condition is required"),
        (of(members([("u.a", members([("eq", Value)]))])), "is of related rows that `select` does not have"),
        (of(members([("not", members([("t.a", members([("eq", Value)]))]))])), "neither in `and` and `or` nor in `not`"),
        (judged([("insert", Text("i"))]), "`insert` needs `rows`"),
        (judged([("insert", Text("i")), ("rows", Value)]), "the columns of `rows` would be the caller's"),
        (judged([("insert", Text("i")), ("rows", List(vec![members([("a", Value)]), members([("b", Value)])]))]), "has other columns than"),
        (judged([("insert", Text("i")), ("rows", members([("a,b", Value)]))]), "`a,b` is not the name of a column"),
        (judged([("update", Text("i")), ("set", members([("a", Value)]))]), "`update` needs `where`"),
        (judged([("delete", Text("i"))]), "`delete` needs `where`"),
        (judged([("delete", Text("i")), ("where", members([]))]), "at least 1 condition is required"),
        // It would say which related rows are returned, and every row would be deleted.
        (judged([("delete", Text("i")), ("where", members([("t.a", members([("eq", Value)]))]))]), "`t.a` is a column of related rows"),
        (
            judged([
                ("delete", Text("i")),
                ("where", members([("or", List(vec![members([("a", members([("eq", Value)]))])]))])),
                ("returning", Text("a")),
            ]),
            "`or` cannot restrict a request with `returning`",
        ),
        (
            judged([
                ("update", Text("i")),
                ("set", members([("a", Value)])),
                ("where", members([("order", members([("eq", Value)]))])),
                ("returning", Text("a")),
            ]),
            "`order` cannot restrict a request with `returning`",
        ),
        (judged([("rpc", Text("f")), ("arguments", Value)]), "`arguments` must be written out"),
        (
            judged([("rpc", Text("f")), ("get", Bool(true)), ("arguments", members([("limit", Value)]))]),
            "no argument can have the name `limit`",
        ),
        (judged([("rpc", Text("f")), ("get", Bool(true)), ("arguments", members([("a", List(vec![Value]))]))]), "an argument is one value"),
    ] {
        let said = said(request);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let deep = (0..40).fold(members([("a", members([("eq", Value)]))]), |inner, _| members([("not", inner)]));
    assert!(said(of(deep)).contains("more than 32 levels"));
}

#[test]
fn selections_are_read() {
    for (text, expected) in [
        ("*", "*"),
        ("id, name", "id,name"),
        (
            "n:name, id::text, data->address->>city, total: amount.sum()::int",
            "n:name,id::text,data->address->>city,total:amount.sum()::int",
        ),
        ("id, author ( name, born ) ", "id,author (name,born)"),
        (
            "w:authors!books_author_id_fkey!inner(name,country(id)),...shop(city)",
            "w:authors!books_author_id_fkey!inner(name,country(id)),...shop(city)",
        ),
        ("count()", "count()"),
    ] {
        let found = select(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(found.text.replace(" (", "("), expected.replace(" (", "("), "{text}");
    }
    assert_eq!(select("a,w:t(b),u!inner(c),...v(d)").unwrap().embedded, ["w", "u", "v"]);
    for text in [
        "",
        "a,",
        "a b(c",
        "a)",
        "t(a",
        "a;b",
        "a&limit=1",
        "a,a",
        "x:a,x:b",
        "a::",
        "a::b::c",
        "a.total()",
        "a.sum",
        "t(a,)",
        "a=b",
        "a\"b",
        "...x:t(a)",
        "x:...t(a)",
        "a%2cb",
        "a\0",
    ] {
        assert!(select(text).is_err(), "{text}");
    }
    let deep = format!("{}a{}", "t(".repeat(9), ")".repeat(9));
    assert!(select(&deep).unwrap_err().contains("levels deep"));
}

#[test]
fn what_begins_like_a_condition_is_found() {
    for text in ["eq.x", "not.eq.x", "in.(1)", "fts(english).x", "is.null", "isdistinct.1", "eq(any).{1}", "eq.", "not."] {
        assert!(begins_like_condition(text), "{text}");
    }
    for text in ["", "eq", "equal.x", "example.com", " eq.x", "EQ.x", "1.5", ".eq.x", "(eq.x)", "\u{e9}q.x", "is it. so"] {
        assert!(!begins_like_condition(text), "{text}");
    }
}
