//! Users, passwords, TLS, and the hosts that DNS names.

use std::{fs, process::Command};

use millrace_core::ErrorKind::{Configuration, Credentials, Denied, Unavailable};
use millrace_tests::{
    database::{Database, connection},
    mongodb,
    scripted::{Reply, Scripted},
};
use serde_json::json;

use super::support::{self, run};
use crate::certificates::certified;

#[test]
fn users_and_passwords() {
    for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-1"] {
        let server = mongodb::start(&["--user", &format!("me:hunter2/@ {mechanism}:{mechanism}")]);
        let password = format!("hunter2%2F%40%20{mechanism}");
        let open = |login: &str, settings: &str, options: &[(&str, &str)]| {
            let url = format!("mongodb://{login}127.0.0.1:{}/shop?authSource=admin{settings}", server.process.port);
            Database::open(connection("mongodb", &url, options))
        };
        let document = json!({"count": "c"});
        let plain = format!("hunter2/@ {mechanism}");
        for (login, settings, options) in [
            (format!("me:{password}@"), String::new(), &[][..]),
            (format!("me:{password}@"), format!("&authMechanism={mechanism}"), &[]),
            (String::new(), String::new(), &[("user", "me"), ("password", plain.as_str())]),
        ] {
            let database = open(&login, &settings, options);
            assert_eq!(support::json(&database, &document), r#"[{"count":0}]"#, "{mechanism} {login}");
            database.ping().unwrap();
        }
        for (login, kind, expected) in [
            ("me:hunter3@", Credentials, "MongoDB does not accept the user and the password"),
            ("you:hunter3@", Credentials, "MongoDB does not accept the user and the password"),
            ("", Denied, "the user of the adapter may not run `count` here"),
        ] {
            let error = run(&open(login, "", &[]), &document).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (kind, expected), "{mechanism}: {error:?}");
            assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
        }
    }
}

#[test]
fn a_server_that_proves_nothing_is_refused() {
    let document = json!({"count": "c"});
    let of = |options: &[&str], settings: &str| {
        let server = mongodb::start(options);
        let url = format!("mongodb://me:hunter2@127.0.0.1:{}/shop{settings}", server.process.port);
        let error = run(&Database::open(connection("mongodb", &url, &[])), &document).unwrap_err();
        assert!(server.commands().is_empty() && !format!("{error:?}").contains("hunter2"), "{error:?}");
        (error.kind, error.message.clone())
    };
    let unproven = (Denied, "MongoDB does not prove that it knows the password: it may be another server".to_owned());
    for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-1"] {
        for forge in ["signature", "done"] {
            assert_eq!(of(&["--user", &format!("me:hunter2:{mechanism}"), "--forge", forge], ""), unproven, "{mechanism} {forge}");
        }
    }
    // The mechanism that the author names is not given up for a weaker one.
    let weaker = ["--user", "me:hunter2:SCRAM-SHA-1", "--offer", "SCRAM-SHA-1"];
    let (kind, message) = of(&weaker, "?authMechanism=SCRAM-SHA-256");
    assert_eq!(
        (kind, message.as_str()),
        (Denied, "MongoDB rejected the user or the password, or does not accept this authentication method")
    );
    // Nobody is sent the password as it is.
    let (kind, message) = of(&["--user", "me:hunter2:SCRAM-SHA-256", "--offer", "PLAIN"], "");
    assert!(kind == Configuration && message.contains("it has SCRAM-SHA-256 and SCRAM-SHA-1"), "{message}");
}

#[test]
fn tls_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key, authority] = certified("localhost");
    let place = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let (certificate, key, file) = (place("cert.pem", &certificate), place("key.pem", &key), place("ca.pem", &authority));
    let server = mongodb::start(&["--cert", &certificate, "--key", &key, "--user", "me:pw:SCRAM-SHA-256"]);
    let open = |host: &str, settings: &str, options: &[(&str, &str)]| {
        let url = format!("mongodb://me:pw@{host}:{}/shop{settings}", server.process.port);
        Database::open(connection("mongodb", &url, options))
    };
    let document = json!({"count": "c"});
    for options in [[("sslrootcert", file.as_str())], [("ca_certificate", authority.as_str())]] {
        assert_eq!(support::json(&open("localhost", "?tls=true", &options), &document), r#"[{"count":0}]"#);
        let error = run(&open("127.0.0.1", "?tls=true", &options), &document).unwrap_err();
        assert_eq!(error.kind, Denied, "the certificate is for another name: {error:?}");
    }
    assert_eq!(run(&open("localhost", "?tls=true", &[]), &document).unwrap_err().kind, Denied, "nobody trusts it");
    assert!(run(&open("localhost", "?tls=true&tlsInsecure=true", &[]), &document).is_ok());
    let brief = [("connect_timeout", "500ms")];
    assert!(run(&open("localhost", "", &brief), &document).is_err(), "the server speaks TLS");
    let plain = mongodb::start(&[]);
    let url = format!("mongodb://localhost:{}/shop?tls=true", plain.process.port);
    let error = run(&Database::open(connection("mongodb", &url, &brief)), &document).unwrap_err();
    assert_eq!(error.kind, Unavailable, "{error:?}");
}

#[test]
fn dns_names_the_hosts() {
    let answer = |kind: u16, data: &[&str]| {
        let answers: Vec<_> = data.iter().map(|data| json!({"name": "x", "type": kind, "TTL": 300, "data": data})).collect();
        Reply::Whole(200, "application/dns-json", json!({"Status": 0, "Answer": answers}).to_string())
    };
    // The two questions are asked at once, and may come in either order.
    let dns_of = |hosts: Reply, texts: Reply| {
        Scripted::start(move |_, request| if request.line.contains("type=SRV") { hosts.clone() } else { texts.clone() })
    };
    let name = "cluster.db.localhost.invalid";
    let open = |dns: &Scripted| {
        let options = [("dns", format!("http://{}/dns-query", dns.address)), ("connect_timeout", "500ms".to_owned())];
        let options: Vec<(&str, &str)> = options.iter().map(|(key, value)| (*key, value.as_str())).collect();
        Database::open(connection("mongodb", &format!("mongodb+srv://me:pw@{name}/shop"), &options))
    };
    // A name with so long a part is none for the resolver of this machine, which asks nobody about
    // it.
    let host = format!("{}.db.localhost.invalid", "a".repeat(64));
    let dns = dns_of(answer(33, &[&format!("0 0 27017 {host}.")]), answer(16, &["\"authSource=admin\""]));
    let error = run(&open(&dns), &json!({"count": "c"})).unwrap_err();
    assert_eq!(error.kind, Unavailable, "{error:?}");
    assert!(error.source.as_ref().is_some_and(|source| source.contains(&host)), "{error:?}");
    let mut asked: Vec<String> = dns.received().iter().map(|request| request.line.clone()).collect();
    asked.sort_by_key(|line| line.contains("type=TXT"));
    assert_eq!(asked[0], format!("GET /dns-query?name=_mongodb._tcp.{name}&type=SRV HTTP/1.1"));
    assert_eq!(asked[1], format!("GET /dns-query?name={name}&type=TXT HTTP/1.1"));
    assert_eq!(asked.len(), 2, "what DNS said is kept");
    for (replies, kind, expected) in [
        (answer(33, &["0 0 27017 evil.example.com."]), Configuration, "names a host of another domain"),
        (answer(33, &[]), Configuration, "names no hosts"),
        (Reply::Whole(200, "text/html", "<html>".to_owned()), Unavailable, "could not ask DNS"),
        (Reply::Whole(500, "text/html", String::new()), Unavailable, "could not ask DNS"),
    ] {
        let dns = dns_of(replies, answer(16, &[]));
        let error = run(&open(&dns), &json!({"count": "c"})).unwrap_err();
        assert!(error.kind == kind && error.message.contains(expected) && !format!("{error:?}").contains("pw@"), "{error:?}");
    }
}

#[test]
fn the_official_client_works_with_the_stand_in() {
    let server = mongodb::start(&["--user", "me:pw:SCRAM-SHA-256"]);
    let script = "import sys, pymongo, bson\n\
                  shop = pymongo.MongoClient(sys.argv[1], retryWrites=False, serverSelectionTimeoutMS=20000).shop\n\
                  shop.c.insert_many([{'_id': i, 'd': bson.Decimal128('1.50'), 'n': bson.Int64(2**53 + i)} for i in range(250)])\n\
                  assert [c['_id'] for c in shop.c.find(batch_size=100, sort=[('_id', 1)])] == list(range(250))\n\
                  try:\n    shop.c.insert_one({'_id': 7})\n    sys.exit('no duplicate')\n\
                  except pymongo.errors.DuplicateKeyError:\n    pass\n\
                  assert shop.c.update_one({'_id': -1}, {'$set': {'a': 1}}, upsert=True).upserted_id == -1\n\
                  assert shop.c.delete_many({'_id': {'$gte': 100}}).deleted_count == 150\n\
                  assert shop.c.count_documents({'n': 2**53 + 7}) == 1\n\
                  assert shop.c.find_one({'_id': 7})['d'] == bson.Decimal128('1.50')\n";
    let url = format!("mongodb://me:pw@127.0.0.1:{}/?directConnection=true", server.process.port);
    let output = Command::new(mongodb::python()).args(["-c", script, &url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let refused = url.replace("pw@", "no@");
    let output = Command::new(mongodb::python()).args(["-c", script, &refused]).output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("Authentication failed"));
}
