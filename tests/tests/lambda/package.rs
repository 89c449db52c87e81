//! What is deployed: the binary, the package, the templates.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
    time::Duration,
};

use millrace_tests::{
    lambda::{self, Front, Function},
    local::binary,
    new_app::NewApp,
};

use super::{app, call, sample, size};

/// The most that the binary may have, zipped, in bytes. Lambda fetches it at a cold start. With the
/// state file, answers as streams, and lists and errors told apart by PostgreSQL's types it has
/// 7,541,000.
const MOST_ZIPPED: u64 = 7_700_000;
/// The newest C library of Amazon Linux 2023.
const GLIBC: (u32, u32) = (2, 34);

/// `sam`, silent about itself and far from the network, with `millrace` in its path.
fn sam(folder: &Path, arguments: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(lambda::installed("sam"));
    command.args(arguments).current_dir(folder);
    command.env("PATH", format!("{}:{path}", binary().parent().unwrap().display()));
    command.envs([("SAM_CLI_TELEMETRY", "0"), ("AWS_DEFAULT_REGION", "eu-central-1"), ("SAM_CLI_POLL_DELAY", "0")]);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn millrace(arguments: &[&str], folder: &Path) -> Output {
    Command::new(binary()).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn the_binary_starts_on_amazon_linux_2023_and_is_small() {
    // Linked as it is deployed, it takes minutes of a processor: before a release, and weekly.
    if std::env::var_os("MILLRACE_LAMBDA_RUNTIME").is_some() {
        return;
    }
    let (folder, package) = sample();
    let file = package.join("bootstrap");
    let symbols = Command::new("objdump").arg("-T").arg(&file).output().unwrap();
    assert!(symbols.status.success(), "{}", said(&symbols));
    let symbols = said(&symbols);
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse::<u32>().ok());
        Some((numbers.next()?, numbers.next()?))
    });
    let newest = versions.max().unwrap();
    assert!(newest <= GLIBC, "the binary needs glibc {newest:?}");
    let sections = Command::new("objdump").arg("-h").arg(&file).output().unwrap();
    assert!(!said(&sections).contains(".symtab") && !said(&sections).contains(".debug_info"), "the binary is not stripped");
    let needed = said(&Command::new("objdump").arg("-p").arg(&file).output().unwrap());
    let needed: Vec<&str> = needed.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")).map(str::trim).collect();
    let of_libc = ["libc.so", "libm.so", "libgcc_s.so", "libdl.so", "libpthread.so", "librt.so", "libresolv.so", "libutil.so", "ld-linux"];
    assert!(needed.iter().all(|library| of_libc.iter().any(|known| library.starts_with(known))), "{needed:?}");
    let zip = folder.path().join("package.zip");
    let zipped = Command::new("python3")
        .args(["-c", "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as z: z.write(sys.argv[2], 'bootstrap')"])
        .args([&zip, &file])
        .output()
        .unwrap();
    assert!(zipped.status.success(), "{}", said(&zipped));
    println!("bootstrap: {} bytes, {} zipped", size(&file), size(&zip));
    assert!(size(&zip) < MOST_ZIPPED, "{} bytes zipped", size(&zip));
}

#[test]
fn the_binary_is_made_for_arm64_too() {
    // It takes three minutes of a processor, and changes with dependencies: it runs before a
    // release, and weekly.
    if !millrace_tests::is_everything_run() || !lambda::arm64_is_there("a binary for arm64") {
        return;
    }
    let folder = app(&[
        ("millrace.yaml", "name: greeter\n"),
        (
            "app/adapters/own.yaml",
            "connector: sqlite\nconnection_string: own.db\noptions: { seed: ./own.sql, read_only: true, timeout: 60s }\n",
        ),
        ("app/adapters/own.sql", "CREATE TABLE n (t TEXT); INSERT INTO n VALUES ('from the file');"),
        ("app/tools/read/config.yaml", "description: Reads\nuse: own\nstatement: SELECT t FROM n\nlimits: { timeout: 60s }\n"),
        ("app/tools/greet/config.yaml", "description: Greets\nhandler: ./handler.ts\nlimits: { timeout: 60s }\n"),
        ("app/tools/greet/handler.ts", "export default () => 'by a script';\n"),
    ]);
    // Optimised it takes minutes, and shows nothing more.
    let built = Command::new(binary())
        .args(["build", ".", "--target", "lambda", "--arch", "arm64", "--json"])
        .current_dir(folder.path())
        .env("MILLRACE_LAMBDA_PROFILE", "dev")
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", said(&built));
    let told: serde_json::Value = serde_json::from_slice(&built.stdout).unwrap();
    assert_eq!(told["arch"], "arm64");
    let bytes = fs::read(folder.path().join("dist/bootstrap")).unwrap();
    // ELF, 64 bits, least byte first, an executable or a position-independent one, for the machine
    // EM_AARCH64.
    assert_eq!((&bytes[..6], &bytes[18..20]), (&b"\x7fELF\x02\x01"[..], &183_u16.to_le_bytes()[..]));
    assert!(bytes[16..18] == [2, 0] || bytes[16..18] == [3, 0], "{:?}", &bytes[16..18]);
    let texts: Vec<&str> = bytes.split(|byte| *byte == 0).filter_map(|text| str::from_utf8(text).ok()).collect();
    assert!(texts.contains(&"/lib/ld-linux-aarch64.so.1"), "it asks for another loader");
    let versions = texts.iter().filter_map(|text| {
        let (major, minor) = text.strip_prefix("GLIBC_")?.split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    });
    let newest: (u32, u32) = versions.max().unwrap();
    assert!(newest <= GLIBC, "the binary needs glibc {newest:?}");

    // It answers, where there is something to run it on.
    let Some((emulator, libraries)) = lambda::arm64_emulator() else { return };
    let package = folder.path().join("dist");
    let (binary, script) = (package.join("bootstrap.arm64"), package.join("bootstrap"));
    fs::rename(&script, &binary).unwrap();
    let command = format!("#!/bin/sh\nexec {} -L {} {}\n", emulator.display(), libraries.display(), binary.display());
    fs::write(&script, command).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let function = Function::start(&package, &[]);
    for (tool, expected) in [("read", "from the file"), ("greet", "by a script")] {
        let request = call(tool, "{}");
        let answer = Front::Url.answer(&request, function.invoke_within(&Front::Url.event(&request), Duration::from_secs(120)));
        assert!(answer.contains(expected), "{answer}");
    }
}

#[test]
fn one_binary_serves_two_apps() {
    let greeting = |text: &str| {
        let handler = format!("export default () => '{text}';\n");
        app(&[
            ("millrace.yaml", "name: greeter\n"),
            ("app/tools/greet/config.yaml", "description: Greets\nhandler: ./handler.ts\n"),
            ("app/tools/greet/handler.ts", &handler),
        ])
    };
    let (one, two) = (greeting("one"), greeting("two"));
    let packages = [&one, &two].map(|folder| lambda::build(folder.path()));
    assert_eq!(fs::read(packages[0].join("bootstrap")).unwrap(), fs::read(packages[1].join("bootstrap")).unwrap());
    for (package, word) in packages.iter().zip(["one", "two"]) {
        assert!(Function::start(package, &[]).send(Front::Url, &call("greet", "{}")).contains(&format!("\"text\":\"{word}\"")));
    }
}

#[test]
fn a_second_build_makes_nothing_anew() {
    let (folder, package) = sample();
    let made = || ["bootstrap", "app.bundle"].map(|name| fs::metadata(package.join(name)).unwrap().modified().unwrap());
    let before = made();
    let again = millrace(&["build", ".", "--target", "lambda", "--json"], folder.path());
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(made(), before);
    let told: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&told["target"], &told["arch"]), (&"lambda".into(), &"x86_64".into()));
}

#[test]
fn sam_builds_the_sample_and_what_it_built_answers() {
    let (folder, package) = sample();
    let valid = sam(folder.path(), &["validate", "--lint"]);
    assert!(valid.status.success(), "{}", said(&valid));
    let built = sam(folder.path(), &["build"]);
    assert!(built.status.success(), "{}", said(&built));
    let artefact = folder.path().join(".aws-sam/build/Millrace");
    // Byte by byte the binary that all the other tests run.
    assert_eq!(fs::read(artefact.join("bootstrap")).unwrap(), fs::read(package.join("bootstrap")).unwrap());
    assert!(!artefact.join("template.yaml").exists());
    let function = Function::start(&artefact, &[("SHOP_CLERK_KEY".to_owned(), "key".to_owned())]);
    let answer = function.send(Front::Url, &call("get-user", r#"{"id":42}"#));
    assert!(answer.contains("Alan Allen"), "{answer}");
}

#[test]
fn an_app_without_a_template_gets_one_that_sam_takes() {
    let folder = app(&[
        ("millrace.yaml", "name: notes\nenv: [REGION_NAME]\n"),
        (
            "app/tools/t/config.yaml",
            "description: x\nhandler: ./handler.ts\nauth: { plugin: api_key, policy: { value: \"{{ env.NOTES_KEY }}\" } }\n",
        ),
        ("app/tools/t/handler.ts", "export default () => 1;\n"),
    ]);
    let package = lambda::build(folder.path());
    let template = fs::read_to_string(package.join("template.yaml")).unwrap();
    assert!(template.contains("REGION_NAME: !Ref") && template.contains("NOTES_KEY: !Ref"), "{template}");
    let valid = sam(&package, &["validate", "--lint"]);
    assert!(valid.status.success(), "{}", said(&valid));
}

#[test]
fn what_new_writes_is_built_and_deployed_as_it_is() {
    let app = NewApp::make("notes", &[]);
    // What the Worker's build leaves, and what must outlast this one.
    fs::create_dir(app.path().join("dist")).unwrap();
    fs::write(app.path().join("dist/.millrace-build"), "worker\n").unwrap();
    let said = app.runs("npm run build:lambda");
    assert!(said.contains("`sam deploy --guided`") && !said.contains("sam build"), "{said}");
    assert!(app.path().join("dist/.millrace-build").is_file());
    let valid = sam(&app.path(), &["validate", "--lint"]);
    assert!(valid.status.success(), "{}", self::said(&valid));
    let template = app.read("template.yaml");
    assert!(template.contains("      CodeUri: dist-lambda\n") && !template.contains("BuildMethod"), "{template}");
    let function = Function::start(&app.path().join("dist-lambda"), &[]);
    let answer = function.send(Front::Url, &call("find-notes", r#"{"q":"tools"}"#));
    assert!(answer.contains("A tool is a folder below app/tools."), "{answer}");
}

#[test]
fn check_says_what_lambda_lacks() {
    let adapter = |text: &str| {
        app(&[
            ("millrace.yaml", "name: x\n"),
            ("app/adapters/a.yaml", text),
            ("app/adapters/a.sql", "CREATE TABLE t (v);"),
            ("app/tools/t/config.yaml", "description: x\nuse: a\nstatement: INSERT INTO t VALUES (1)\n"),
        ])
    };
    let cases = [
        ("connector: sqlite\nconnection_string: shop.db\n", true, "`shop.db`, which does not exist: the package will have no database"),
        ("connector: sqlite\nconnection_string: /var/shop.db\n", false, "`/var/shop.db`, which does not exist on Lambda"),
        ("connector: sqlite\nconnection_string: ../shop.db\noptions: { seed: ./a.sql }\n", false, "lies outside of the app's folder"),
        ("connector: sqlite\nconnection_string: shop.db\noptions: { seed: ./a.sql }\n", true, "is a copy in /tmp, which is lost"),
        ("connector: sqlite\nconnection_string: /mnt/data/shop.db\n", true, "0 errors, 0 warnings"),
        ("connector: libsql\nconnection_string: http://127.0.0.1:1\n", true, "0 errors, 0 warnings"),
    ];
    for (text, good, expected) in cases {
        let folder = adapter(text);
        let checked = millrace(&["check", "--target", "lambda"], folder.path());
        // Lines are cut at the terminal's width.
        let words = said(&checked).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert_eq!(checked.status.success(), good, "{text}{words}");
        assert!(words.contains(expected), "{text}{words}");
    }
}
