//! The function at a Runtime API that is not ours: `cargo lambda watch`.

use millrace_tests::{lambda::watch::Watch, local::send};

use super::{call, sample};

#[test]
fn cargo_lambda_serves_the_function() {
    let (_folder, package) = sample();
    let function = Watch::start(&package, &[], Watch::free_port());
    for path in ["/mcp", "/lambda-url/_/mcp"] {
        let mut request = call("get-user", r#"{"id":42}"#);
        request.path = path.into();
        let answer = send(function.port, &request);
        assert!(answer.starts_with("HTTP 200\n") && answer.contains("Alan Allen"), "{path}: {answer}");
    }
}
