//! Tokens against the verifier itself: vectors of the RFCs, another implementation, the clock,
//! issuers that change, and the recipes of the documentation. What hosts answer is in the corpus.

use std::{
    cell::{Cell, RefCell},
    fs,
    io::Write as _,
    process::{Command, Stdio},
    rc::Rc,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use millrace_core::{
    Error, ErrorKind, Json,
    app::TokenAlgorithm,
    headers::Headers,
    ports::{HttpResponse, TokenKeys, TokenPolicy, TokenRefusal, TokenVerifier as _},
    secret::Secret,
};
use millrace_native::signatures::RingSignatures;
use millrace_test_kit::{NOW_MS, World, block_on};
use millrace_tests::{
    case::root,
    direct::compile,
    docs::blocks,
    tokens::{Issuer, SECRET, issuer},
    tries,
};
use millrace_tokens::{
    JwtVerifier, Signatures as _,
    jwk::{Key, Material},
};
use serde_json::json;

const ISSUER: &str = "https://issuer.example";
const ASYMMETRIC: [TokenAlgorithm; 9] = {
    use TokenAlgorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
    [Rs256, Rs384, Rs512, Ps256, Ps384, Ps512, Es256, Es384, EdDsa]
};

fn verifier(world: &Rc<World>) -> JwtVerifier {
    let ports = world.ports();
    JwtVerifier::new(ports.http, ports.cache, ports.clock, Rc::new(RingSignatures))
}

fn refusal(verifier: &JwtVerifier, token: &str, keys: TokenKeys<'_>, algorithms: &[TokenAlgorithm]) -> Option<TokenRefusal> {
    let audiences = ["api".to_owned()];
    let policy = TokenPolicy { issuer: ISSUER, audience_claim: "aud", audiences: &audiences, keys, algorithms, leeway_s: 30 };
    block_on(verifier.verify(token, policy, u64::MAX / 2)).err()
}

fn token(issuer: &Issuer, signer: &str, kid: &str, more: Json) -> String {
    let mut payload = json!({ "iss": ISSUER, "aud": "api", "sub": "ada", "exp": 4_000_000_000_u64 });
    if let (Some(payload), Json::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    let algorithm = signer.split('-').next().unwrap();
    issuer.token(signer, &json!({ "alg": algorithm, "kid": kid }).to_string(), &payload.to_string())
}

fn set(keys: &[(&str, &str)]) -> String {
    json!({ "keys": keys.iter().map(|(name, kid)| issuer().jwk_with(name, json!({ "kid": kid }))).collect::<Vec<_>>() }).to_string()
}

fn answers(body: &str) -> HttpResponse {
    HttpResponse { status: 200, headers: Headers::new(), body: body.as_bytes().to_vec() }
}

/// RFC 7515, appendices A.1 to A.3, and RFC 8037, appendix A.4.
#[test]
fn the_vectors_of_the_rfcs_are_verified() {
    use TokenAlgorithm::{EdDsa, Es256, Hs256, Rs256};
    const CLAIMS: &str = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let key = |jwk: Json| Key::parse(&jwk).unwrap();
    let secret = decoded("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
    let rsa = key(
        json!({ "kty": "RSA", "e": "AQAB", "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ" }),
    );
    let ec = key(
        json!({ "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" }),
    );
    let ed = key(json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }));
    let vectors = [
        (
            Hs256,
            Material::Secret(secret),
            format!("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{CLAIMS}"),
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ),
        (
            Rs256,
            rsa.material().clone(),
            format!("eyJhbGciOiJSUzI1NiJ9.{CLAIMS}"),
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
        ),
        (
            Es256,
            ec.material().clone(),
            format!("eyJhbGciOiJFUzI1NiJ9.{CLAIMS}"),
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        ),
        (
            EdDsa,
            ed.material().clone(),
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".to_owned(),
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        ),
    ];
    for (algorithm, key, message, signature) in vectors {
        let mut signature = decoded(signature);
        assert!(block_on(RingSignatures.verify(algorithm, &key, message.as_bytes(), &signature)), "{algorithm:?}");
        signature[7] ^= 4;
        assert!(!block_on(RingSignatures.verify(algorithm, &key, message.as_bytes(), &signature)), "{algorithm:?}, changed");
    }
}

#[test]
fn the_edges_of_times_are_exact() {
    let world = World::new();
    let verifier = verifier(&world);
    let keys = set(&[("p256", "ec")]);
    let now_s = NOW_MS / 1_000;
    let is_good = |claims: Json| refusal(&verifier, &token(issuer(), "ES256", "ec", claims), TokenKeys::Set(&keys), &ASYMMETRIC).is_none();
    for (claims, good) in [
        (json!({ "exp": now_s - 29 }), true),
        (json!({ "exp": now_s - 30 }), false),
        (json!({ "exp": now_s as f64 - 29.999 }), true),
        (json!({ "exp": now_s as f64 - 30.001 }), false),
        (json!({ "nbf": now_s + 30 }), true),
        (json!({ "nbf": now_s + 31 }), false),
        (json!({ "nbf": now_s as f64 + 30.001 }), false),
        (json!({ "iat": now_s + 30 }), true),
        (json!({ "iat": now_s + 31 }), false),
        (json!({ "exp": 253_402_300_799_u64 }), true),
        (json!({ "exp": 253_402_300_800_u64 }), false),
    ] {
        assert_eq!(is_good(claims.clone()), good, "{claims}");
    }
    // A token whose signature is remembered ends as every other one.
    let soon = token(issuer(), "ES256", "ec", json!({ "exp": now_s + 1 }));
    for (later_ms, good) in [(0, true), (30_999, true), (31_000, false), (0, true)] {
        world.now_ms.set(NOW_MS + later_ms);
        assert_eq!(refusal(&verifier, &soon, TokenKeys::Set(&keys), &ASYMMETRIC).is_none(), good, "{later_ms} ms later");
    }
}

#[test]
fn a_flood_of_unknown_keys_makes_one_request_in_an_interval() {
    let world = World::new();
    let verifier = verifier(&world);
    *world.on_http.borrow_mut() = Some(Box::new(|_| Some(Ok(answers(&set(&[("p256", "ec")]))))));
    let keys = TokenKeys::Url("https://issuer.example/jwks");
    let good = token(issuer(), "ES256", "ec", json!({}));
    assert_eq!(refusal(&verifier, &good, keys, &ASYMMETRIC), None);
    for round in 0..3_u64 {
        for number in 0..1_000_u64 {
            world.now_ms.set(NOW_MS + round * 30_000 + number * 29);
            let unknown = token(issuer(), "ES256", &format!("unknown-{number}"), json!({ "n": number }));
            assert!(matches!(refusal(&verifier, &unknown, keys, &ASYMMETRIC), Some(TokenRefusal::Caller(_))));
        }
        assert_eq!(world.sent.borrow().len() as u64, 2 + round, "after {} unknown keys", (round + 1) * 1_000);
        assert_eq!(refusal(&verifier, &good, keys, &ASYMMETRIC), None);
    }
}

#[test]
fn keys_stay_while_their_server_is_down_and_no_longer_than_a_day() {
    let world = World::new();
    let verifier = verifier(&world);
    let body = Rc::new(RefCell::new(Some(set(&[("p256", "ec")]))));
    let said = Rc::clone(&body);
    *world.on_http.borrow_mut() = Some(Box::new(move |_| {
        Some(
            said.borrow()
                .as_deref()
                .map(answers)
                .ok_or_else(|| Error::new(ErrorKind::Unavailable, "could not connect to `issuer.example`")),
        )
    }));
    let keys = TokenKeys::Url("https://issuer.example/jwks");
    let good = token(issuer(), "ES256", "ec", json!({}));
    let at = |hours: f64| world.now_ms.set(NOW_MS + (hours * 3_600_000.0) as u64);
    assert_eq!(refusal(&verifier, &good, keys, &ASYMMETRIC), None);
    body.replace(None);
    for hours in [0.5, 12.0, 23.9] {
        at(hours);
        let before = world.sent.borrow().len();
        for number in 0..50 {
            let other = token(issuer(), "ES256", "ec", json!({ "n": number }));
            assert_eq!(refusal(&verifier, &other, keys, &ASYMMETRIC), None, "{hours} h");
        }
        assert_eq!(world.sent.borrow().len(), before + 1, "{hours} h");
    }
    at(24.1);
    assert!(matches!(refusal(&verifier, &good, keys, &ASYMMETRIC), Some(TokenRefusal::Unavailable(_))), "also where it is remembered");
    // It comes back, with another key; the old one is good no more.
    body.replace(Some(set(&[("p384", "next")])));
    at(24.2);
    assert!(matches!(refusal(&verifier, &good, keys, &ASYMMETRIC), Some(TokenRefusal::Caller(_))));
    assert_eq!(refusal(&verifier, &token(issuer(), "ES384", "next", json!({})), keys, &ASYMMETRIC), None);
}

#[test]
fn isolates_share_keys_and_damaged_entries_are_not_there() {
    let world = World::new();
    *world.on_http.borrow_mut() = Some(Box::new(|_| Some(Ok(answers(&set(&[("p256", "ec")]))))));
    let keys = TokenKeys::Url("https://issuer.example/jwks");
    let good = token(issuer(), "ES256", "ec", json!({}));
    for _ in 0..10 {
        assert_eq!(refusal(&verifier(&world), &good, keys, &ASYMMETRIC), None);
    }
    assert_eq!(world.sent.borrow().len(), 1, "nine isolates found the keys in the shared cache");
    world.cache_fails.set(true);
    assert_eq!(refusal(&verifier(&world), &good, keys, &ASYMMETRIC), None);
    world.cache_fails.set(false);
    let name = world.cached.borrow().keys().next().unwrap().clone();
    for damaged in [
        "",
        "{}",
        r#"{"fetched_ms":1000000,"fresh_until_ms":9000000000000,"text":"e30="}"#,
        r#"{"fetched_ms":99999999999,"fresh_until_ms":99999999999,"text":"e30="}"#,
    ] {
        let before = world.sent.borrow().len();
        world.cached.borrow_mut().insert(name.clone(), (damaged.into(), 1));
        assert_eq!(refusal(&verifier(&world), &good, keys, &ASYMMETRIC), None, "{damaged}");
        assert_eq!(world.sent.borrow().len(), before + 1, "{damaged}");
    }
}

/// PyJWT with `cryptography` signs random tokens, which are verified here, and verifies as many
/// that are signed here: 10,000 each, or 1,200 in a sample. One in ten is spoilt, and refused by
/// either.
#[test]
fn another_implementation_agrees_on_thousands_of_tokens() {
    let each = tries(10_000, 1_200);
    let tools = std::env::var("MILLRACE_TEST_TOOLS").map_or_else(|_| root().join("target/tools"), Into::into);
    let signers = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "HS256", "HS384", "HS512"];
    let mut input = String::new();
    let keys: serde_json::Map<String, Json> =
        ["rsa", "p256", "p384", "ed"].map(|name| (name.to_owned(), issuer().jwk(name))).into_iter().collect();
    input += &json!({ "keys": keys, "secret": SECRET, "issuer": ISSUER, "each": each }).to_string();
    let mut expected = Vec::new();
    for number in 0..each {
        let signer = signers[number % signers.len()];
        let spoilt = number % 10 == 7;
        let signer = if spoilt { format!("{signer}-broken") } else { signer.to_owned() };
        let text = "é\"\\\u{1f600}".repeat(number % 5);
        input += &format!("\n{}", token(issuer(), &signer, "k", json!({ "n": number, "text": text })));
        expected.push(!spoilt);
    }
    let mut python = Command::new(tools.join("venv/bin/python"));
    let mut python = python.arg(root().join("tests/servers/tokens.py")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = python.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()).unwrap());
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let mut lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    let theirs: Vec<bool> = lines.by_ref().take(each).map(|line| line == "good").collect();
    assert_eq!(theirs, expected, "what PyJWT says of tokens that were signed here");
    let their_keys = lines.next().unwrap().to_owned();
    let world = World::new();
    let verifier = verifier(&world);
    let secret = Secret::new(SECRET.to_owned());
    let (mut seen, mut refused) = (0, 0);
    for line in lines {
        let (wanted, token) = line.split_once(' ').unwrap();
        let keys = if wanted.contains("HS") { TokenKeys::Secret(&secret) } else { TokenKeys::Set(&their_keys) };
        let symmetric = [TokenAlgorithm::Hs256, TokenAlgorithm::Hs384, TokenAlgorithm::Hs512];
        let algorithms = if wanted.contains("HS") { &symmetric[..] } else { &ASYMMETRIC };
        let found = refusal(&verifier, token, keys, algorithms);
        assert_eq!(found.is_none(), wanted.starts_with("good"), "{wanted}: {found:?}");
        (seen, refused) = (seen + 1, refused + usize::from(found.is_some()));
    }
    assert_eq!((seen, refused), (each, each / 10));
}

/// Each recipe of the page lets in the token that it shows, and not one for another audience or of
/// another issuer.
#[test]
fn the_authentication_page_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/authentication.md")).unwrap();
    let (mut policy, mut recipes) = (String::new(), 0);
    for (kind, body) in blocks(&page) {
        let folder = tempfile::tempdir().unwrap();
        match kind.as_str() {
            "yaml" => {
                fs::create_dir_all(folder.path().join("app/tools/who")).unwrap();
                fs::write(folder.path().join("millrace.yaml"), format!("name: x\n{body}")).unwrap();
                fs::write(folder.path().join("app/tools/who/config.yaml"), "handler: ./who.ts\n").unwrap();
                fs::write(folder.path().join("app/tools/who/who.ts"), "export default (_, ctx) => ctx.auth;\n").unwrap();
                assert_eq!(compile(folder.path()).tools.len(), 1);
                policy = body;
            }
            "json" => {
                recipes += 1;
                recipe(&policy, &serde_json::from_str(&body).unwrap());
            }
            other => panic!("the page has a block of kind `{other}`, which nothing tests"),
        }
    }
    assert_eq!(recipes, 8);
}

fn recipe(policy: &str, shown: &Json) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("app/tools/who")).unwrap();
    fs::write(folder.path().join("millrace.yaml"), format!("name: x\n{policy}")).unwrap();
    fs::write(folder.path().join("app/tools/who/config.yaml"), "handler: ./who.ts\n").unwrap();
    fs::write(folder.path().join("app/tools/who/who.ts"), "export default () => 1;\n").unwrap();
    let app = compile(folder.path());
    let world = World::new();
    // A little after the token of the page was issued.
    let issued_s = shown["iat"].as_u64().unwrap();
    world.now_ms.set((issued_s + 20) * 1_000);
    let name = shown["iss"].as_str().unwrap().to_owned();
    let url = name.clone();
    *world.on_http.borrow_mut() = Some(Box::new(move |request| {
        Some(Ok(if request.url.ends_with("/openid-configuration") {
            answers(&json!({ "issuer": url, "jwks_uri": format!("{}/keys", url.trim_end_matches('/')) }).to_string())
        } else {
            answers(&set(&[("rsa", "k")]))
        }))
    }));
    let mut ports = world.ports();
    ports.tokens = Rc::new(verifier(&world));
    let seen = Rc::new(Cell::new(0));
    let counted = Rc::clone(&seen);
    let principals = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&principals);
    *world.on_script.borrow_mut() = Some(Box::new(move |call| {
        counted.set(counted.get() + 1);
        kept.borrow_mut().push(call.ctx["auth"].clone());
        Some(Ok(millrace_core::ports::Returned::Value(json!(1))))
    }));
    let endpoint = millrace_core::Endpoint::new(app, ports);
    let status = |payload: &Json| {
        let token = issuer().token("RS256", r#"{"alg":"RS256","kid":"k"}"#, &payload.to_string());
        let mut headers = Headers::new();
        for (name, value) in [("host", "127.0.0.1:8080"), ("content-type", "application/json"), ("mcp-protocol-version", "2025-06-18")] {
            headers.append(name, value);
        }
        match policy.contains("cloudflare_access") {
            true => headers.append("cf-access-jwt-assertion", token),
            false => headers.append("authorization", format!("Bearer {token}")),
        }
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{}}}"#.to_vec();
        block_on(endpoint.handle(millrace_core::protocol::Request {
            method: "POST".into(),
            path: "/mcp".into(),
            query: String::new(),
            headers,
            body: millrace_core::protocol::Body::Whole(body),
            deadline_ms: None,
            cancel: millrace_core::cancel::Cancel::new(),
            peer: None,
            platform_caller: None,
            checks_host: true,
            is_tls: false,
            is_local: false,
        }))
        .status
    };
    assert_eq!((status(shown), seen.get()), (200, 1), "{name}");
    let principal = principals.borrow()[0].clone();
    let roles: Vec<&str> = principal["roles"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let subject = principal["subject"].as_str().unwrap().to_owned();
    assert!([&shown["sub"], &shown["uid"], &shown["oid"]].iter().any(|claim| claim.as_str() == Some(&subject)), "{name}: {subject}");
    assert!(
        roles.iter().all(|role| role.contains("clerk") || *role == "refunds") && (!roles.is_empty() || name.contains("access")),
        "{name}: {roles:?}"
    );
    assert!(principal["claims"].get("exp").is_none() && principal["claims"]["iss"] == name.as_str());
    for (claim, value) in [
        ("iss", json!(format!("{name}/"))),
        ("aud", json!("another")),
        ("exp", json!(issued_s - 100)),
        ("client_id", json!("another")),
        ("azp", json!("another")),
    ] {
        let mut changed = shown.clone();
        let matters = match claim {
            "aud" => shown.get("aud").is_some(),
            "client_id" => shown.get("client_id").is_some(),
            "azp" => shown.get("aud").is_none() && shown.get("azp").is_some(),
            _ => true,
        };
        changed[claim] = value;
        assert_eq!(status(&changed), if matters { 401 } else { 200 }, "{name}: another `{claim}`");
    }
}
