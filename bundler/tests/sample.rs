//! The sample app of the repository.

use std::path::Path;

use crate::support::options;
use millrace_bundler::{bundle, render};

#[test]
fn the_sample_app_has_nothing_to_mend() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let report = bundle(&folder, &options());
    assert_eq!(render(&folder, &report.diagnostics, false), "");
    let app = report.app.unwrap();
    assert!(!app.tools.is_empty() && !app.scripts.is_empty() && !app.adapters.is_empty());
    assert!(app.adapters[0].seed.is_some());
}
