//! Diagnostics as a terminal shows them.

use crate::support::{options, write};
use millrace_bundler::{bundle, render};

#[test]
fn a_diagnostic_shows_place_line_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let tool = "description: Größe\nuse: mian\nstatement: SELECT 1\n";
    let adapter = "connector: sqlite\nconnection_string: \":memory:\"\n";
    write(folder.path(), &[("millrace.yaml", "name: shop"), ("app/tools/x/config.yaml", tool), ("app/adapters/main.yaml", adapter)]);
    let report = bundle(folder.path(), &options());
    let expected = "  × the adapter `mian` does not exist
   ╭─[app/tools/x/config.yaml:2:6]
 1 │ description: Größe
 2 │ use: mian
   ·      ────
 3 │ statement: SELECT 1
   ╰────
  help: Did you mean `main`?

1 error
";
    assert_eq!(render(folder.path(), &report.diagnostics, false), expected);
    let coloured = render(folder.path(), &report.diagnostics, true);
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    assert_eq!(coloured, render(folder.path(), &report.diagnostics, true));
}

#[test]
fn a_diagnostic_without_a_file_shows_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let report = bundle(folder.path(), &options());
    let expected = "  × this folder is not a Millrace app: it has no `millrace.yaml`
   ╭─[millrace.yaml:1:1]
   ╰────
  help: Create an app with `millrace new NAME`, or name the folder of one.

1 error
";
    assert_eq!(render(folder.path(), &report.diagnostics, false), expected);
}
