use millrace_bundler::yaml_documents;
use millrace_languages::Dialect;

use super::{parameter, prebuilt, statement::Conversion, *};

fn imported(text: &str) -> ImportedApp {
    convert(&yaml_documents("tools.yaml", text).unwrap(), false).unwrap()
}

/// Converts a statement; the lists of parameters are YAML.
fn statement(dialect: Dialect, text: &str, parameters: &str, templates: &str, textual: bool) -> Result<String, String> {
    let list = |text: &str| parameter::read(yaml_documents("list", text).unwrap().first()).unwrap();
    let (parameters, templates) = (list(parameters), list(templates));
    let conversion = Conversion { dialect, parameters: &parameters, templates: &templates, textual };
    conversion.convert(text).map(|converted| converted.text)
}

#[test]
fn parameters_become_placeholders() {
    let two = "[{ name: id, type: integer }, { name: part, type: string }]";
    for (dialect, text, expected) in [
        (Dialect::Postgres, "SELECT $2, $1::int -- $1\n, '$1';", "SELECT {{ inputs.part }}, {{ inputs.id }}::int -- $1\n, '$1'"),
        (Dialect::Postgres, "SELECT $$ $1 {{ $$", "SELECT $$ $1 {{ '{{' }} $$"),
        (Dialect::MySql, "SELECT ? , '?', ? # ?", "SELECT {{ inputs.id }} , '?', {{ inputs.part }} # ?"),
        (Dialect::Sqlite, "SELECT ?2, :part, @id, \"?\"", "SELECT {{ inputs.part }}, {{ inputs.part }}, {{ inputs.id }}, \"?\""),
    ] {
        assert_eq!(statement(dialect, text, two, "[]", false).as_deref(), Ok(expected));
    }
    let missing = statement(Dialect::Postgres, "SELECT $3", two, "[]", false).unwrap_err();
    assert!(missing.contains("`$3`, and no parameter for it"), "{missing}");
}

#[test]
fn templates_become_names_keywords_and_values_or_nothing() {
    let templates = "
- { name: tab, type: string, allowedValues: [flights, hotels] }
- { name: Tab, type: string, allowedValues: [Flights, Hotels] }
- { name: dir, type: string, allowedValues: [ASC, DESC] }
- { name: cols, type: array, items: { name: col, type: string, allowedValues: [id, name] } }
- { name: esc, type: string, escape: double-quotes, allowedValues: [Order Date, Total] }
- { name: n, type: integer, maxValue: 9 }
- { name: any, type: string }
- { name: anyof, type: array, items: { type: string } }
";
    for (text, expected) in [
        ("SELECT {{array .cols}} FROM {{.tab}}", Ok("SELECT {{ inputs.cols | ident }} FROM {{ inputs.tab | ident }}")),
        // Without quotes, PostgreSQL takes a name for one in small letters.
        ("SELECT 1 FROM {{.Tab}}", Ok("SELECT 1 FROM {{ inputs.Tab | keyword }}")),
        ("SELECT 1 ORDER BY 1 {{ .dir }} LIMIT {{.n}}", Ok("SELECT 1 ORDER BY 1 {{ inputs.dir | keyword }} LIMIT {{ inputs.n }}")),
        ("SELECT {{.esc}}, \"{{.tab}}\"", Ok("SELECT {{ inputs.esc | ident }}, {{ inputs.tab | ident }}")),
        ("SELECT '%{{.any}}%' -- {{.tab}}\n", Ok("SELECT '%{{ inputs.any }}%'")),
        (
            "SELECT 1 WHERE true {{if .any}} AND a = '{{.any}}'{{end}}",
            Ok("SELECT 1 WHERE true  AND ({{ inputs.any }} IS NULL OR {{ inputs.any }} = '' OR ( a = '{{ inputs.any }}'))"),
        ),
        ("SELECT {{.any}}", Err("can be any text of the statement")),
        ("SELECT {{array .anyof}}", Err("can be any text of the statement")),
        ("SELECT {{.cols}}", Err("a list without `array`")),
        ("SELECT a_{{.tab}}", Err("a part of a name")),
        ("SELECT {{.gone}}", Err("it has no template parameter `gone`")),
        ("SELECT {{if .any}}LIMIT 1{{end}}", Err("begins with neither `AND` nor `OR`")),
        ("SELECT {{if .any}} AND true", Err("is not closed")),
        ("SELECT {{range .cols}}", Err("more than the name of a parameter")),
        ("SELECT {{.tab", Err("a template is not closed")),
    ] {
        match (statement(Dialect::Postgres, text, "[]", templates, false), expected) {
            (Ok(converted), Ok(expected)) => assert_eq!(converted, expected),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{text}: {why}"),
            (converted, _) => panic!("{text}: {converted:?}"),
        }
    }
    let explain = |parameters| statement(Dialect::Postgres, "EXPLAIN {{.any}}", parameters, templates, true);
    assert_eq!(explain("[]").as_deref(), Ok("EXPLAIN {{ inputs.any }}"));
    assert!(explain("[{ name: x, type: string }]").is_err());
}

const MAPS: &str = "
sources:
  shop-pg:
    kind: postgres
    host: ${PG_HOST:127.0.0.1}
    port: 5433
    database: shop data
    user: ${PG_USER}
    password: hunter2
    queryParams: { sslmode: require }
authServices:
  google: { kind: google, clientId: '${CLIENT}' }
tools:
  find_orders:
    kind: postgres-sql
    source: shop-pg
    description: |
      Orders of a customer.
      Example: {{ \"id\": 1 }}
    statement: SELECT * FROM orders WHERE customer = $1 AND status = $2 AND owner = $3
    parameters:
      - { name: id, type: integer, description: 'Whose, by \"id\"', minValue: 1 }
      - { name: status, type: string, default: open, allowedValues: [open, paid], excludedValues: [void] }
      - { name: owner, type: string, authServices: [{ name: google, field: email }] }
  closed: { kind: postgres-sql, source: shop-pg, description: x, statement: SELECT 1, authRequired: [unknown] }
  anything: { kind: postgres-execute-sql, source: shop-pg, description: x }
toolsets:
  daily: [find_orders]
";

const DOCUMENTS: &str = "
kind: source
name: cache
type: redis
address: ['${REDIS}']
---
kind: source
name: warehouse
type: bigquery
---
kind: tool
name: Get-Choice
type: redis
source: cache
description: A choice.
commands: [[GET, $key]]
parameters: [{ name: key, type: string, allowedValues: ['^user:[0-9]+$'] }]
---
kind: tool
name: several
type: redis
source: cache
description: x
commands: [[GET, a], [GET, b]]
---
kind: tool
name: report
type: bigquery-sql
source: warehouse
description: x
statement: SELECT 1
---
kind: authService
name: own
type: generic
audience: shop
authorizationServer: https://login.example.com
mcpEnabled: true
scopesRequired: [read]
---
kind: toolset
name: all
tools: [Get-Choice]
---
kind: prompt
name: review
arguments: [{ name: code, description: The code }]
messages: [{ role: user, content: 'Review {{.code}}' }]
---
kind: embeddingModel
name: gemini
";

#[test]
fn the_form_of_maps_becomes_an_app() {
    let imported = imported(MAPS);
    assert_eq!(
        imported.files["app/adapters/shop-pg.yaml"],
        "connector: postgres\nconnection_string: \"postgres://{{ env.PG_HOST }}:5433/shop%20data?sslmode=require\"\noptions:\n  \
         user: \"{{ env.PG_USER }}\"\n  password: \"{{ env.SHOP_PG_PASSWORD }}\"\n"
    );
    assert_eq!(
        imported.files["app/tools/find_orders/config.yaml"],
        r#"description: |
  Orders of a customer.
  Example: { { "id": 1 } }
tags: ["daily"]
use: shop-pg
statement: "SELECT * FROM orders WHERE customer = {{ inputs.id }} AND status = {{ inputs.status }} AND owner = {{ auth.claims.email }}"
inputs:
  id: { type: int, min: 1, description: "Whose, by \"id\"" }
  status: { type: string, default: "open", enum: ["open","paid"] }
auth: { plugin: jwt, policy: { issuer: "https://accounts.google.com", audience: "{{ env.CLIENT }}" } }
middleware:
  - require: { when: "not (inputs.status in ['void'])", message: "A value of this call is excluded." }
"#
    );
    let variables: Vec<_> = imported.variables.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
    assert_eq!(variables, [("CLIENT", None), ("PG_HOST", Some("127.0.0.1")), ("PG_USER", None), ("SHOP_PG_PASSWORD", Some("hunter2"))]);
    assert_eq!(
        omitted(&imported),
        [
            "the tool `closed`: it requires `unknown`, which did not carry over",
            "the tool `anything`: it runs any statement that its caller sends"
        ]
    );
}

#[test]
fn the_form_of_documents_becomes_an_app() {
    let imported = imported(DOCUMENTS);
    assert_eq!(
        imported.root,
        "auth: { plugin: jwt, policy: { issuer: \"https://login.example.com\", audience: \"shop\", scopes: [\"read\"] } }\n"
    );
    assert_eq!(imported.files["app/adapters/cache.yaml"], "connector: redis\nconnection_string: \"redis://{{ env.REDIS }}/\"\n");
    assert_eq!(
        imported.files["app/tools/get-choice/config.yaml"],
        "name: Get-Choice\ndescription: \"A choice.\"\ntags: [\"all\"]\nuse: cache\nstatement: \"GET {{ inputs.key }}\"\ninputs:\n  key: { type: string, pattern: \"(?:^user:[0-9]+$)\" }\n"
    );
    assert_eq!(
        imported.files["app/prompts/review.yaml"],
        "arguments:\n  code: { required: true, description: \"The code\" }\nmessages:\n  - { role: \"user\", text: \"Review {{ code }}\" }\n"
    );
    assert_eq!(
        omitted(&imported),
        [
            "the embeddingModel `gemini`: an app has no such thing",
            "the source `warehouse`: Millrace has no connector for `bigquery`",
            "the tool `several`: it has several commands, and a statement is one; call them in a handler",
            "the tool `report`: its source `warehouse` did not carry over",
        ]
    );
}

fn omitted(imported: &ImportedApp) -> Vec<String> {
    imported.omitted.iter().map(|omission| omission.line().trim().to_owned()).collect()
}

#[test]
fn what_is_no_configuration_is_rejected() {
    for (text, expected) in [
        ("- a", "document 1 is not a map"),
        ("name: shop", "`name` is not one of its keys"),
        ("kind: tool", "a tool has no `name`"),
        ("kind: tool\nname: a\n---\nkind: tool\nname: a", "it has two tools `a`"),
    ] {
        let why = convert(&yaml_documents("tools.yaml", text).unwrap(), false).err().unwrap();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn each_prebuilt_type_has_a_statement_for_its_parameters() {
    for kind in prebuilt::names() {
        let built_in = prebuilt::find(kind).unwrap();
        let dialect = if kind.starts_with("mysql") { Dialect::MySql } else { Dialect::Postgres };
        let parameters = parameter::read(built_in.get("parameters")).unwrap();
        let conversion = Conversion { dialect, parameters: &parameters, templates: &[], textual: false };
        let converted = conversion.convert(built_in["statement"].as_str().unwrap()).unwrap();
        for parameter in &parameters {
            assert!(converted.text.contains(&format!("{{{{ {} }}}}", parameter.path)), "{kind}: `{}` is not used", parameter.name);
        }
    }
    assert!(prebuilt::names().count() > 25);
}
