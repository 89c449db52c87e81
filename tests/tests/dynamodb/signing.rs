//! Requests as botocore signs them, with credentials of the adapter and of the host.

use millrace_core::ErrorKind::Credentials;
use millrace_tests::files::write;
use millrace_tests::{
    Exchange,
    database::{Database, connection, text},
    dynalite,
    dynoxide::{Dynoxide, REGION},
    local::Host,
};

const KEY_ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "FwoGZXIvYXdzEXAMPLE//token==";

fn open(endpoint: &str, [id, secret, token]: [&str; 3]) -> Database {
    let options = [("endpoint", endpoint), ("access_key_id", id), ("secret_access_key", secret), ("session_token", token)];
    Database::open(connection("dynamodb", &format!("dynamodb://{REGION}"), &options))
}

#[test]
fn requests_are_signed_as_botocore_signs_them() {
    let server = Dynoxide::start();
    server.create("kept");
    let door = dynalite::door(server.process.port, "dynamodb", [REGION, KEY_ID, SECRET, TOKEN]);
    let endpoint = format!("http://127.0.0.1:{}", door.port);
    let good = open(&endpoint, [KEY_ID, SECRET, TOKEN]);
    good.ping().unwrap();
    good.run("INSERT INTO \"kept\" VALUE {'id': ?, 'ü': ?}", &[text("k"), text("zażółć \0 🙂")]).unwrap();
    assert_eq!(good.rows("SELECT \"ü\" FROM \"kept\" WHERE \"id\" = 'k'"), [[text("zażółć \0 🙂")]]);
    for (credentials, expected) in [
        ([KEY_ID, "another", TOKEN], "does not accept the signature: the secret access key is wrong"),
        (["AKIDANOTHER", SECRET, TOKEN], "does not know the access key, or its session token is missing or wrong"),
        ([KEY_ID, SECRET, "another"], "does not accept the session token any more: it has expired"),
        ([KEY_ID, SECRET, ""], "does not accept the signature: the secret access key is wrong"),
    ] {
        let wrong = open(&endpoint, credentials);
        for error in [wrong.error("SELECT * FROM \"kept\""), wrong.ping().unwrap_err()] {
            assert_eq!((error.kind, error.message.clone()), (Credentials, format!("DynamoDB in the region `{REGION}` {expected}")));
            assert!(!error.source.as_deref().unwrap_or_default().contains("canonical"));
        }
    }
}

#[test]
fn a_host_has_credentials_of_its_own() {
    let server = Dynoxide::start();
    server.create("kept");
    let door = dynalite::door(server.process.port, "dynamodb", [REGION, KEY_ID, SECRET, TOKEN]);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "millrace.yaml", "name: far\n");
    let adapter = "connector: dynamodb\nconnection_string: \"dynamodb://\"\noptions: { endpoint: \"{{ env.PLACE }}\" }\n";
    write(folder.path(), "app/adapters/far.yaml", adapter);
    write(folder.path(), "app/tools/all/config.yaml", "description: x\nuse: far\nstatement: SELECT * FROM \"kept\" WHERE \"id\" = 'k'\n");
    let place = format!("http://127.0.0.1:{}", door.port);
    let call = |secret: &str| {
        let env = [
            ("PLACE", place.as_str()),
            ("AWS_REGION", REGION),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_SESSION_TOKEN", TOKEN),
        ];
        let host = Host::dev(folder.path(), &env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        host.send(&Exchange::parse("CALL all {}"))
    };
    assert!(call(SECRET).contains(r#""text":"[]""#), "{}", call(SECRET));
    let refused = call("another");
    assert!(refused.contains("the secret access key is wrong") && !refused.contains("another"), "{refused}");
}
