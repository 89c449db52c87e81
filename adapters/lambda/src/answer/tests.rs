use serde_json::{Value, json};

use super::*;

fn shaped(answer: &BufferedResponse, form: Form) -> Value {
    serde_json::from_str(answer.payload(form).unwrap().get()).unwrap()
}

fn answer(body: &[u8]) -> BufferedResponse {
    let fields = [("content-type", "application/json"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("vary", "x"), ("vary", "y")];
    BufferedResponse { status: 200, headers: fields.into_iter().collect(), body: body.to_vec() }
}

#[test]
fn each_front_end_gets_its_form() {
    let lists = json!({ "content-type": ["application/json"], "set-cookie": ["a=1", "b=2"], "vary": ["x", "y"] });
    let cases = [
        (
            Form::V2,
            json!({
                "statusCode": 200, "headers": { "content-type": "application/json", "vary": "x, y" }, "cookies": ["a=1", "b=2"],
                "body": "{}", "isBase64Encoded": false,
            }),
        ),
        (Form::V1, json!({ "statusCode": 200, "multiValueHeaders": lists, "body": "{}", "isBase64Encoded": false })),
        (
            Form::AlbLists,
            json!({ "statusCode": 200, "statusDescription": "200 OK", "multiValueHeaders": lists, "body": "{}", "isBase64Encoded": false }),
        ),
        (
            Form::Alb,
            json!({
                "statusCode": 200, "statusDescription": "200 OK",
                "headers": { "content-type": "application/json", "set-cookie": "a=1, b=2", "vary": "x, y" },
                "body": "{}", "isBase64Encoded": false,
            }),
        ),
    ];
    for (form, expected) in cases {
        assert_eq!(shaped(&answer(b"{}"), form), expected, "{form:?}");
    }
}

#[test]
fn bytes_that_are_no_text_go_as_base64() {
    let payload = shaped(&answer(&[0xff, 0xef]), Form::V2);
    assert_eq!((&payload["body"], &payload["isBase64Encoded"]), (&json!("/+8="), &json!(true)));
}

#[test]
fn an_answer_is_measured_as_it_travels() {
    // Quotes travel as two bytes: half of the limit is too long, and the same length of letters is
    // not.
    let half = LIMIT / 2 + 1000;
    assert_eq!(shaped(&answer("\"".repeat(half).as_bytes()), Form::V2)["statusCode"], 500);
    assert_eq!(shaped(&answer("x".repeat(half).as_bytes()), Form::V2)["statusCode"], 200);
    let frame = serde_json::to_string(&answer(b"").shaped(Form::V2)).unwrap().len();
    for (length, status) in [(LIMIT - frame, 200), (LIMIT - frame + 1, 500)] {
        let payload = answer("x".repeat(length).as_bytes()).payload(Form::V2).unwrap();
        assert!(payload.get().len() <= LIMIT);
        let payload: Value = serde_json::from_str(payload.get()).unwrap();
        assert_eq!(payload["statusCode"], status, "{length}");
    }
    let body = shaped(&answer("x".repeat(LIMIT).as_bytes()), Form::V2)["body"].as_str().unwrap().to_owned();
    assert!(body.contains("6291556 bytes that AWS Lambda passes") && body.contains("-32603"), "{body}");
}
