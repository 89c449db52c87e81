//! What requests of HTTP become in the bundle.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test whose app is not built fails")]

use millrace_bundler::Options;
use millrace_core::app::{Access, DocumentNode, Execute, Statement};

use crate::support::{build_for, told};

fn compiled(tool: &str) -> Statement {
    let files = [
        ("millrace.yaml", "name: a"),
        ("app/adapters/shop.yaml", "connector: http\nconnection_string: https://api.example.com/v1"),
        ("app/tools/t/config.yaml", tool),
    ];
    let options = Options { connectors: vec!["http".to_owned()], ..Options::default() };
    let report = build_for(&files, &options);
    assert_eq!(told(&report), "", "{tool}");
    match report.app.unwrap().tools.remove(0).execute {
        Execute::Statement { statement, .. } => statement,
        other => panic!("{other:?}"),
    }
}

/// A node as JSON, with `<1 Segment>` for the places of values.
fn written(node: &DocumentNode) -> String {
    match node {
        DocumentNode::Literal(literal) => literal.0.to_string(),
        DocumentNode::Place { part, leaf } => format!("<{} {leaf:?}>", part + 1),
        DocumentNode::Members(members) => {
            let members: Vec<String> = members.iter().map(|(name, node)| format!("{name}: {}", written(node))).collect();
            format!("{{{}}}", members.join(", "))
        }
        DocumentNode::List(elements) => format!("[{}]", elements.iter().map(written).collect::<Vec<_>>().join(", ")),
    }
}

fn lines(statement: &Statement) -> String {
    statement.document.iter().map(|(name, node)| format!("{name} {}\n", written(node))).collect()
}

const INPUTS: &str = "description: D\nuse: shop\ninputs: { a: { type: string }, b: { type: int }, ids: { type: array, items: { type: int } }, m: { type: string, optional: true } }\n";

#[test]
fn a_request_becomes_a_document_of_fixed_parts() {
    let statement = compiled(&format!(
        "{INPUTS}request: GET /orders/{{{{ inputs.a }}}}{{{{ inputs.b }}}}/x-{{{{ inputs.a }}}}.json?status=open%20now&filter%5Bid%5D=a%26{{{{ inputs.a }}}}&ids={{{{ inputs.ids | csv }}}}&m={{{{ inputs.m }}}}\n\
         headers: {{ X-Reason: \"{{{{ inputs.m }}}}\", X-N: 1 }}\nresult: /data/items\npage: {{ cursor: next, query: after, max: 5 }}\n"
    ));
    let expected = r#"method "GET"
path ["/orders/", <1 SegmentPart>, "", <2 SegmentPart>, "/x-", <3 SegmentPart>, ".json"]
query [["status", "open now"], ["filter[id]", <4 Field>], ["ids", <5 Field>, "csv"], ["m", <6 Field>]]
headers [["X-Reason", <7 HeaderField>], ["X-N", "1"]]
result "/data/items"
page {cursor: "next", query: "after", max: 5}
"#;
    assert_eq!(lines(&statement), expected);
    assert_eq!(
        (statement.access, statement.http_method(), statement.http_path().as_deref()),
        (Access::Read, Some("GET"), Some("/orders/{}{}/x-{}.json"))
    );
    let shown = "GET /orders/<1><2>/x-<3>.json?status=open%20now&filter[id]=<4>&ids=<5> | csv&m=<6>\nheaders: X-Reason: <7>\nheaders: X-N: 1\n\
                 result: /data/items\npage: { cursor: \"next\", query: \"after\", max: 5 }";
    assert_eq!(statement.text.as_deref(), Some(shown));
}

#[test]
fn bodies_and_forms_have_leaves() {
    let statement = compiled(&format!(
        "{INPUTS}request: POST /orders/{{{{ inputs.a }}}}\nbody: {{ name: \"{{{{ inputs.a }}}}\", list: [1, \"x{{{{ inputs.b }}}}\"], ids: \"{{{{ inputs.ids }}}}\", n: null }}\n"
    ));
    let expected = r#"method "POST"
path ["/orders/", <1 Segment>, ""]
body {name: <2 Json>, list: [1, <3 Json>], ids: <4 Json>, n: null}
"#;
    assert_eq!((lines(&statement).as_str(), statement.access), (expected, Access::Write));
    let statement = compiled(&format!(
        "{INPUTS}request: POST /find\nform: {{ q: \"{{{{ inputs.a }}}}\", t: [a, \"{{{{ inputs.b }}}}\"] }}\nreads: true\n"
    ));
    let expected = "method \"POST\"\npath [\"/find\"]\nform [[\"q\", <1 Field>], [\"t\", \"a\"], [\"t\", <2 Field>]]\n";
    assert_eq!((lines(&statement).as_str(), statement.access), (expected, Access::Read));
}

/// What the driver would refuse in each call.
#[test]
fn a_path_that_no_request_can_have_is_an_error_of_the_build() {
    for (path, expected) in [
        ("/a%2F..%2Fb", "the path has a segment `.` or `..`"),
        ("/a%5C..%5Cb/{{ inputs.id }}", "the path has a segment `.` or `..`"),
        ("/%ff", "begins no code of UTF-8"),
    ] {
        let tool = format!("description: D\nuse: shop\nrequest: \"GET {path}\"\ninputs: {{ id: {{ type: string, default: a }} }}\n");
        let files = [
            ("millrace.yaml", "name: a"),
            ("app/adapters/shop.yaml", "connector: http\nconnection_string: https://api.example.com/v1"),
            ("app/tools/t/config.yaml", tool.as_str()),
        ];
        let report = build_for(&files, &Options { connectors: vec!["http".to_owned()], ..Options::default() });
        assert!(told(&report).contains(expected), "{path}: {}", told(&report));
    }
}
