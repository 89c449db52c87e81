//! What CloudFormation gets of each template: SAM's own translator is run on it, once with each
//! value of each parameter.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use millrace_tests::{case::root, lambda, local::binary};
use serde_json::{Value, json};

/// What a template comes to with some parameters, the others at their defaults.
struct Deployment {
    chosen: serde_json::Map<String, Value>,
    resources: serde_json::Map<String, Value>,
}

impl Deployment {
    fn is(&self, parameter: &str, value: &str) -> bool {
        self.chosen.get(parameter).is_some_and(|chosen| chosen == value)
    }

    /// The properties of the resources of a type.
    fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.resources.values().filter(|resource| resource["Type"] == kind).map(|resource| &resource["Properties"]).collect()
    }

    fn one(&self, kind: &str) -> &Value {
        let found = self.of_type(kind);
        assert_eq!(found.len(), 1, "{kind} with {:?}", self.chosen);
        found[0]
    }
}

fn deployments(template: &Path) -> Vec<Deployment> {
    let sam = lambda::installed("sam");
    let translated =
        Command::new(sam.with_file_name("python")).arg(root().join("tests/lambda/translate.py")).arg(template).output().unwrap();
    assert!(translated.status.success(), "{}", String::from_utf8_lossy(&translated.stderr));
    let Value::Array(all) = serde_json::from_slice(&translated.stdout).unwrap() else { panic!("no list") };
    let of = |mut run: Value| {
        let (Value::Object(chosen), Value::Object(resources)) = (run["parameters"].take(), run["resources"].take()) else {
            panic!("{run}")
        };
        Deployment { chosen, resources }
    };
    all.into_iter().map(of).collect()
}

/// Asserts that a deployment has what docs/lambda.md says, and may do nothing else.
fn check(deployment: &Deployment, processor: &str) {
    let chosen = &deployment.chosen;
    let has = |parameter: &str, value: &str| deployment.is(parameter, value);
    let text = |parameter: &str, default: &str| chosen.get(parameter).and_then(Value::as_str).unwrap_or(default).to_owned();
    let number = |parameter: &str, default: u64| chosen.get(parameter).and_then(Value::as_u64).unwrap_or(default);
    let has_table = has("CacheTable", "yes");

    let url = deployment.one("AWS::Lambda::Url");
    assert_eq!(url["AuthType"], text("UrlAuth", "AWS_IAM"), "{chosen:?}");
    assert_eq!(url["InvokeMode"], if has("Response", "stream") { "RESPONSE_STREAM" } else { "BUFFERED" }, "{chosen:?}");

    // Who may call: nobody without credentials, unless a parameter says so.
    let function = json!({ "Ref": "Millrace" });
    let mut expected = Vec::new();
    if has("UrlAuth", "NONE") {
        let of_all = |action: &str| json!({ "Action": action, "FunctionName": function, "Principal": "*" });
        let (mut uses_url, mut calls) = (of_all("lambda:InvokeFunctionUrl"), of_all("lambda:InvokeFunction"));
        (uses_url["FunctionUrlAuthType"], calls["InvokedViaFunctionUrl"]) = ("NONE".into(), true.into());
        expected.extend([uses_url, calls]);
    }
    if has("HttpApi", "yes") {
        let source = json!({ "Fn::Sub": "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*" });
        let principal = "apigateway.amazonaws.com";
        expected.push(json!({ "Action": "lambda:InvokeFunction", "FunctionName": function, "Principal": principal, "SourceArn": source }));
    }
    let found: Vec<Value> = deployment.of_type("AWS::Lambda::Permission").into_iter().cloned().collect();
    assert_eq!(found, expected, "{chosen:?}");
    assert_eq!(deployment.of_type("AWS::ApiGatewayV2::Api").len(), usize::from(has("HttpApi", "yes")));

    // What the function may do.
    let may: BTreeMap<String, Vec<&str>> = deployment
        .of_type("AWS::IAM::RolePolicy")
        .iter()
        .flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().unwrap())
        .map(|statement| {
            assert_eq!(statement["Effect"], "Allow");
            let actions = statement["Action"].as_array().unwrap().iter().map(|action| action.as_str().unwrap()).collect();
            (statement["Resource"]["Fn::GetAtt"][0].as_str().unwrap().to_owned(), actions)
        })
        .collect();
    let mut allowed = BTreeMap::from([("Log".to_owned(), vec!["logs:CreateLogStream", "logs:PutLogEvents"])]);
    if has_table {
        let actions = ["GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"].map(|action| format!("dynamodb:{action}"));
        let page = fs::read_to_string(root().join("docs/lambda.md")).unwrap();
        assert!(page.contains("`dynamodb:GetItem`, `BatchGetItem`, `PutItem`, `UpdateItem` and `DeleteItem` on its own table"));
        allowed.insert("Cache".to_owned(), actions.map(|action| &*action.leak()).to_vec());
    }
    assert_eq!(may, allowed, "{chosen:?}");
    let role = deployment.one("AWS::IAM::Role");
    assert!(role.get("ManagedPolicyArns").is_none() && role.get("Policies").is_none(), "{role}");

    let function = deployment.one("AWS::Lambda::Function");
    assert_eq!(function["Architectures"], json!([text("Architecture", processor)]), "{chosen:?}");
    assert_eq!((&function["Runtime"], &function["Role"]), (&"provided.al2023".into(), &json!({ "Fn::GetAtt": ["Role", "Arn"] })));
    assert_eq!(
        (function["MemorySize"].as_u64(), function["Timeout"].as_u64()),
        (Some(number("MemoryMb", 256)), Some(number("TimeoutSeconds", 30)))
    );
    let reserved = chosen.get("ReservedConcurrency").filter(|reserved| **reserved != json!(-1));
    assert_eq!(function.get("ReservedConcurrentExecutions"), reserved, "{chosen:?}");
    let variables = &function["Environment"]["Variables"];
    assert_eq!(variables["MILLRACE_LOG"], text("LogLevel", "warn"));
    assert_eq!(variables["MILLRACE_RESPONSE"], text("Response", "buffer"));
    let table = json!({ "Fn::Sub": "dynamodb:${Cache}" });
    assert_eq!(variables["MILLRACE_CACHE"], if has_table { table } else { "memory".into() }, "{chosen:?}");
    assert_eq!(deployment.one("AWS::Logs::LogGroup")["RetentionInDays"].as_u64(), Some(number("LogDays", 14)));
    let tables = deployment.of_type("AWS::DynamoDB::Table");
    assert_eq!(tables.len(), usize::from(has_table));
    assert!(tables.iter().all(|table| table["TimeToLiveSpecification"] == json!({ "AttributeName": "expires_at", "Enabled": true })));
}

#[test]
fn every_template_gives_what_the_page_says_with_each_value_of_each_parameter() {
    let folder = tempfile::tempdir().unwrap();
    let runs = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        // The runtime is not looked at.
        fs::write(folder.path().join("runtime"), "").unwrap();
        command.args(arguments).current_dir(folder.path()).env("MILLRACE_LAMBDA_RUNTIME", folder.path().join("runtime"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    runs(&["new", "notes"]);
    fs::rename(folder.path().join("notes/template.yaml"), folder.path().join("new.yaml")).unwrap();
    for processor in ["x86_64", "arm64"] {
        runs(&["build", "notes", "--target", "lambda", "--arch", processor, "--out", processor]);
    }
    let templates = [
        (root().join("template.yaml"), "x86_64"),
        (folder.path().join("new.yaml"), "x86_64"),
        (folder.path().join("x86_64/template.yaml"), "x86_64"),
        (folder.path().join("arm64/template.yaml"), "arm64"),
    ];
    for (template, processor) in templates {
        let deployments = deployments(&template);
        for parameter in ["UrlAuth", "HttpApi", "Response", "CacheTable"] {
            let values = deployments.iter().filter(|deployment| deployment.chosen.contains_key(parameter)).count();
            assert_eq!(values, 2, "{parameter} of {}", template.display());
        }
        assert!(deployments.len() > 25, "{}", template.display());
        deployments.iter().for_each(|deployment| check(deployment, processor));
    }
}
