//! `one_call N [none|declarative|scripts|script|rows|presented]`: N calls of the sample app through
//! the core alone; or of a small one without middleware, with three declarative entries, with three
//! scripts, of a handler in script, or of a thousand rows, as they are or presented.
//! `scripts/bench instructions` counts what one of them takes.

use millrace_tests::bare::{Entries, endpoint, endpoint_with_a_thousand_rows, endpoint_with_entries, endpoint_with_script, now, request};

fn main() {
    let calls: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let endpoint = match std::env::args().nth(2).as_deref() {
        Some("none") => endpoint_with_entries(Entries::None),
        Some("declarative") => endpoint_with_entries(Entries::Declarative),
        Some("scripts") => endpoint_with_entries(Entries::Scripts),
        Some("script") => endpoint_with_script(),
        Some("rows") => endpoint_with_a_thousand_rows(false),
        Some("presented") => endpoint_with_a_thousand_rows(true),
        _ => endpoint(),
    };
    let request = request();
    for _ in 0..calls {
        assert_eq!(now(endpoint.handle(request.clone())).status, 200);
    }
}
