//! `one_call N`: N calls through the core alone. `scripts/bench instructions` counts what one of them takes.

use millrace_tests::bare::{endpoint, now, request};

fn main() {
    let calls: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let endpoint = endpoint();
    let request = request();
    for _ in 0..calls {
        assert_eq!(now(endpoint.handle(request.clone())).status, 200);
    }
}
