//! The app as a Cloudflare Worker, in real workerd.

use std::path::Path;

use millrace_tests::{
    Exchange, Group,
    far_group::{Far, FarGroup},
    groups, is_everything_run, is_everything_selected,
    libsql_group::LibsqlGroup,
    new_app::NewApp,
    selected_groups, worker,
    workerd::Workerd,
    workers,
};

/// The group that runs behind `wrangler dev`; the others run in workerd.
const BEHIND_WRANGLER: &str = "sample";

#[test]
fn the_worker_answers_the_same_and_logs_no_secret() {
    let groups: Vec<Group> = selected_groups().into_iter().filter(|group| group.name != BEHIND_WRANGLER).collect();
    let groups: Vec<&Group> = groups.iter().collect();
    // The last line of that group, which a script wrote.
    let is_logged = |log: &str| groups.iter().all(|group| group.name != "secrets") || log.contains("half of it");
    let (answers, log) = workers::run("worker", &groups, is_logged);
    let differences: Vec<String> = groups.iter().zip(answers).flat_map(|(group, answers)| differences("worker", group, answers)).collect();
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
    let lines = groups.iter().map(|group| group.check_log("worker", &log)).max().unwrap_or(0);
    assert!(lines > 100 || !is_everything_selected(), "only {lines} lines were logged: the test has nothing to read");
}

#[test]
fn the_worker_answers_the_same_behind_wrangler() {
    for group in selected_groups().iter().filter(|group| group.name == BEHIND_WRANGLER) {
        let differences = differences("worker", group, worker::run(group));
        assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
    }
}

/// How a group's answers differ from the expected ones.
fn differences(host: &str, group: &Group, answers: Vec<Vec<String>>) -> Vec<String> {
    group.answered(answers).filter(|(case, _)| case.runs_on(host)).filter_map(|(case, answers)| case.check(host, &answers).err()).collect()
}

#[test]
fn it_answers_the_same_from_a_libsql_server() {
    let moved: Vec<LibsqlGroup> = selected_groups().into_iter().filter_map(LibsqlGroup::of).collect();
    let (answers, _) = workers::run("libsql", &moved.iter().map(|far| &far.group).collect::<Vec<_>>(), |_| true);
    let differences: Vec<String> = moved.iter().zip(answers).flat_map(|(far, answers)| far.differences("worker", answers)).collect();
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
    let count: usize = moved.iter().map(|far| far.group.cases.len()).sum();
    assert!(count >= 65 || !is_everything_selected(), "too few cases were found");
}

#[test]
fn the_worker_answers_the_same_through_the_apis_of_databases() {
    let moved: Vec<FarGroup> =
        Far::ALL.into_iter().flat_map(|far| selected_groups().into_iter().filter_map(move |group| far.group(group))).collect();
    let (answers, _) = workers::run("worker", &moved.iter().map(|far| &far.group).collect::<Vec<_>>(), |_| true);
    let differences: Vec<String> = moved.iter().zip(answers).flat_map(|(far, answers)| far.differences(answers)).collect();
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn it_answers_the_same_through_a_hyperdrive() {
    let mut group = groups().into_iter().find(|group| group.postgres.is_some()).unwrap();
    let database = group.postgres.as_ref().unwrap().url();
    // The app's own connection string is a variable.
    let (_, address) = group.env.iter_mut().find(|(name, _)| name == "DATABASE_URL").unwrap();
    *address = "hyperdrive:DB".to_owned();
    group.wrangler = Some(format!(
        "name = \"postgres\"\nmain = \"dist/entry.mjs\"\ncompatibility_date = \"2026-11-01\"\ncompatibility_flags = [\"enable_request_signal\"]\n\
         [[hyperdrive]]\nbinding = \"DB\"\nid = \"0\"\nlocalConnectionString = \"{database}\"\n"
    ));
    let differences = differences("worker", &group, worker::run(&group));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The most bytes, gzipped, that an upload with a runtime may have: a hundredth more than each has.
const MOST: [(&str, f64); 4] =
    [("scripts", 1_286_000.0), ("lean", 718_500.0), ("scripts-databases", 1_864_500.0), ("databases", 1_367_500.0)];

/// What `wrangler deploy --dry-run` says of an app's upload, and how many bytes that is when
/// gzipped. Its own `wrangler.toml` builds the app.
fn upload(app: &Path) -> (String, f64) {
    let run = worker::wrangler().args(["deploy", "--dry-run", "--outdir"]).arg(app.join("upload")).current_dir(app).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
    let line = said.lines().find(|line| line.contains("Total Upload")).unwrap_or_else(|| panic!("{said}"));
    println!("{line}");
    let kib = line.split("gzip: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok()).unwrap();
    (said, kib * 1024.0)
}

/// The sample app without the tools that have scripts, and what refers to them.
fn without_scripts(app: &Path) {
    let _ = std::fs::remove_dir_all(app.join("app/presenters"));
    for tool in ["add", "get-order", "quote-shipping", "sales-report", "staff"] {
        let _ = std::fs::remove_dir_all(app.join("app/tools").join(tool));
    }
}

#[test]
fn the_sample_app_can_be_deployed_and_is_small() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let mut too_large = Vec::new();
    // The smallest and the largest; the two between them with `scripts/test --all`.
    for (runtime, most) in MOST.into_iter().filter(|(runtime, _)| is_everything_run() || ["lean", "scripts-databases"].contains(runtime)) {
        let folder = sample.install();
        if !runtime.contains("scripts") {
            without_scripts(folder.path());
        }
        let mut bindings = vec!["env.DB", "env.MILLRACE_CACHE"];
        if runtime.contains("databases") {
            with_postgres(folder.path());
            bindings.push("env.FAR");
        }
        let (said, bytes) = upload(folder.path());
        println!("with the runtime `{runtime}`: {bytes} bytes");
        if bytes >= most {
            too_large.push(format!("{runtime}: {bytes} bytes are more than {most}"));
        }
        for expected in bindings.into_iter().chain([format!("runtime `{runtime}`").as_str()]) {
            assert!(said.contains(expected), "{expected} is not in: {said}");
        }
        assert!(!said.contains("WARNING"), "{said}");
    }
    assert!(too_large.is_empty(), "{}", too_large.join("\n"));
}

#[test]
fn the_printed_seed_command_fills_the_database_and_wrangler_warns_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("notes/millrace.yaml", "name: notes\nenv: [GREETING]\n"),
        (
            "notes/app/adapters/main.yaml",
            "connector: sqlite\nconnection_string: notes.db\noptions: { seed: ./notes.sql }\nfallback: { connector: d1, connection_string: \"d1:DB\" }\n",
        ),
        ("notes/app/adapters/notes.sql", "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('from the seed');"),
        (
            "notes/app/tools/notes/config.yaml",
            "description: Notes\nuse: main\nstatement: SELECT text, {{ ctx.env.GREETING }} AS greeting FROM notes\n",
        ),
        ("notes/app/tools/texts/config.yaml", "description: Texts\nuse: main\nstatement: SELECT text FROM notes\n"),
        (
            "notes/app/tools/closed/config.yaml",
            "description: Notes\nuse: main\nstatement: SELECT text FROM notes\nauth: { plugin: api_key, policy: { value: \"{{ env.KEY }}\" } }\n",
        ),
    ];
    files.iter().for_each(|(path, text)| millrace_tests::files::write(folder.path(), path, text));
    // Somebody stands above the app, and then in its folder, as the page of the docs has it.
    let page = std::fs::read_to_string(millrace_tests::case::root().join("docs/cloudflare.md")).unwrap();
    let of_page = page
        .lines()
        .find(|line| line.starts_with("wrangler d1 execute DB --local --config dist/"))
        .unwrap()
        .replace("shop.sql", "notes.sql");
    for (stands_in, app, greeting, expected) in [
        ("", "notes", Some("hello"), format!("--config {0} --file notes/app/adapters/notes.sql", "notes/dist/wrangler.toml")),
        ("notes", ".", None, of_page),
    ] {
        let here = folder.path().join(stands_in);
        let out = Path::new(app).join("dist");
        let out = out.strip_prefix(".").unwrap_or(&out);
        let built = std::process::Command::new(millrace_tests::local::binary())
            .args(["build", app, "--target", "worker", "--out"])
            .arg(out)
            .env("MILLRACE_WASM_OPT", "none")
            .current_dir(&here)
            .output()
            .unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&built.stdout), String::from_utf8_lossy(&built.stderr));
        let command = said.split('`').find(|text| text.starts_with("wrangler d1 execute ")).unwrap_or_else(|| panic!("{said}"));
        assert!(command.contains(&expected), "{command}");
        let dist = here.join(out);
        let dry = worker::wrangler().args(["deploy", "--dry-run", "--outdir", "upload"]).current_dir(&dist).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&dry.stdout), String::from_utf8_lossy(&dry.stderr));
        assert!(dry.status.success() && !said.contains("WARNING"), "{said}");
        let filled = worker::wrangler().args(command.split(' ').skip(1)).current_dir(&here).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&filled.stdout), String::from_utf8_lossy(&filled.stderr));
        assert!(filled.status.success(), "{said}");
        let variables: Vec<(String, String)> = greeting.into_iter().map(|value| ("GREETING".to_owned(), value.to_owned())).collect();
        let worker = worker::Worker::dev(&dist, &variables);
        let answer = worker.send(&Exchange::parse("CALL texts"));
        assert!(answer.contains("\\\"from the seed\\\""), "{answer}");
        let answer = worker.send(&Exchange::parse("CALL notes"));
        let expected = match greeting {
            Some(value) => format!("\\\"from the seed\\\",\\\"greeting\\\":\\\"{value}\\\""),
            None => "The environment variable `GREETING` is not set.".to_owned(),
        };
        assert!(answer.contains(&expected), "{answer}");
        drop(worker);
        std::fs::remove_dir_all(&dist).unwrap();
    }
}

#[test]
fn the_cloudflare_page_does_what_it_says() {
    // What marks a command that needs an account.
    const MARK: &str = "# needs a Cloudflare account";
    let page = std::fs::read_to_string(millrace_tests::case::root().join("docs/cloudflare.md")).unwrap();
    let (_, minutes) = page.split_once("## Deploy in five minutes").unwrap();
    let minutes = minutes.split("\n## ").next().unwrap().split("\nA command that you built from source").next().unwrap();
    let app = NewApp::make("notes", &[]);
    let (mut worker, mut ran, mut said) = (None, 0, String::new());
    for (kind, body) in millrace_tests::docs::blocks(minutes) {
        assert_eq!(kind, "sh", "{body}");
        if body.starts_with("wrangler dev ") {
            assert_eq!(body, "wrangler dev --local --config wrangler.toml\n");
            worker = Some(worker::Worker::dev(&app.path(), &[]));
        } else if body.starts_with("curl ") {
            let port = worker.as_ref().map_or(0, |worker: &worker::Worker| worker.port);
            let answer = app.runs(&body.replace(":8787", &format!(":{port}")));
            assert!(answer.contains("A tool is a folder below app/tools."), "{answer}");
        } else if body.contains(MARK) {
            assert!(body.lines().all(|line| line.ends_with(MARK)), "{body}");
        } else {
            // The app is there already.
            let command = body.replace("millrace new notes && cd notes\n", "");
            if command.starts_with("wrangler d1 execute ") {
                assert!(said.contains(&format!("`{}`", command.trim())), "the build does not print it: {said}");
            }
            said = app.runs(&format!("export PATH=\"$PWD/node_modules/.bin:$PATH\"\n{command}"));
        }
        ran += 1;
    }
    assert_eq!(ran, 5);
}

#[test]
fn what_new_writes_runs_as_a_worker() {
    let app = NewApp::make("notes", &[]);
    let said = app.runs("npm run deploy:worker -- --dry-run");
    assert!(said.contains("env.DB") && !said.contains("WARNING"), "{said}");
    // What its README says of the data.
    let _ = app.runs("npm run seed:worker");
    let worker = worker::Worker::dev(&app.path(), &[]);
    let answer = worker.send(&Exchange::parse(r#"CALL find-notes {"q": "tools"}"#));
    assert!(answer.contains("A tool is a folder below app/tools."), "{answer}");
    let answer = worker.send(&Exchange::parse(r#"CALL add-note {"topic": "ideas", "text": "it's new"}"#));
    assert!(answer.contains("it's new"), "{answer}");
}

#[test]
fn what_new_writes_for_a_database_runs_on_d1() {
    let folder = tempfile::tempdir().unwrap();
    let tables = "CREATE TABLE \"Order Items\" (id INTEGER PRIMARY KEY, \"{{ inputs.x }}\" TEXT, meta JSON, anything, paid BOOLEAN NOT NULL DEFAULT 0); \
                  INSERT INTO \"Order Items\" VALUES (1, 'Pen', '{}', 1, 0), (2, 'Ink', NULL, 'two', 1);";
    rusqlite::Connection::open(folder.path().join("shop.db")).unwrap().execute_batch(tables).unwrap();
    let app = NewApp::make_in(folder, "shop", &["--from", "sqlite:shop.db", "--write"]);
    let built = worker::build(&app.path());
    let worker = worker::Worker::dev(&built, &[]);
    worker.fill("DB", tables);
    for (call, expected) in [
        (r#"CALL order-items-list {"paid": true}"#, r#""inputs_x\":\"Ink\""#),
        (r#"CALL order-items-search {"q": "en"}"#, r#""inputs_x\":\"Pen\""#),
        (r#"CALL order-items-create {"inputs_x": "it's", "meta": {"a": [1]}, "anything": "three"}"#, r#"\"id\":3,\"inputs_x\":\"it's\""#),
        (r#"CALL order-items-update {"id": 3, "paid": true}"#, r#"\"anything\":\"three\""#),
        (r#"CALL order-items-get {"id": 4}"#, "NOT_FOUND"),
    ] {
        let answer = worker.send(&Exchange::parse(call));
        assert!(answer.contains(expected), "{call}: {answer}");
    }
}

/// An adapter on PostgreSQL, and a tool that uses it.
fn with_postgres(app: &Path) {
    let files = [
        ("app/adapters/far.yaml", "connector: postgres\nconnection_string: \"hyperdrive:FAR\"\n"),
        ("app/tools/far/config.yaml", "description: Asks far away\nuse: far\nstatement: SELECT 1 AS one\n"),
    ];
    files.iter().for_each(|(path, text)| millrace_tests::files::write(app, path, text));
    let file = app.join("wrangler.toml");
    let text = std::fs::read_to_string(&file).unwrap() + "\n[[hyperdrive]]\nbinding = \"FAR\"\nid = \"0\"\n";
    std::fs::write(file, text).unwrap();
}

#[test]
fn a_runtime_that_lacks_a_part_refuses_the_app_when_it_starts() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let (lean, scripts, postgres) = (sample.install(), sample.install(), sample.install());
    without_scripts(lean.path());
    without_scripts(postgres.path());
    with_postgres(postgres.path());
    let runtime = |app: &Path| std::fs::read(app.join("dist/runtime/index_bg.wasm")).unwrap();
    let cases = [(&scripts, "was made without the script engine"), (&postgres, "was made without the connector")];
    let _ = worker::build(lean.path());
    for (whole, refusal) in cases {
        let _ = worker::build(whole.path());
        assert!(runtime(lean.path()).len() < runtime(whole.path()).len());
        for file in ["dist/runtime/index_bg.wasm", "dist/runtime/index.js"] {
            std::fs::copy(lean.path().join(file), whole.path().join(file)).unwrap();
        }
        let said = Workerd::start(&whole.path().join("dist"), &[]).err().unwrap_or_default();
        assert!(said.contains(refusal), "{said}");
    }
}

#[test]
fn a_second_build_makes_nothing_anew() {
    let sample = groups().into_iter().find(|group| group.name == "sample").unwrap();
    let folder = sample.install();
    let _ = worker::build(folder.path());
    let wasm = folder.path().join("dist/runtime/index_bg.wasm");
    let made = std::fs::metadata(&wasm).unwrap().modified().unwrap();
    let _ = worker::build(folder.path());
    assert_eq!(std::fs::metadata(&wasm).unwrap().modified().unwrap(), made);
}

#[test]
fn a_script_that_takes_more_stack_than_there_is_ends_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("millrace.yaml", "name: greedy\n"),
        ("app/tools/eat/config.yaml", "description: Takes more stack than there is\nhandler: ./handler.ts\n"),
        // Without a call in between that looks for the end of the stack.
        (
            "app/tools/eat/handler.ts",
            "export default () => {\n  const { get } = Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags')!;\n  return Object.defineProperty({}, 'global', { get }).global;\n};\n",
        ),
        ("app/tools/ok/config.yaml", "description: Answers\nhandler: ./handler.ts\n"),
        ("app/tools/ok/handler.ts", "export default () => 42;\n"),
    ];
    files.iter().for_each(|(path, text)| millrace_tests::files::write(folder.path(), path, text));
    let worker = worker::Worker::dev(&worker::build(folder.path()), &[]);
    let call = |tool: &str| worker.send(&Exchange::parse(&format!("CALL {tool}")));
    for _ in 0..2 {
        assert!(call("ok").contains("42"));
        let failed = call("eat");
        assert!(failed.starts_with("HTTP 200") && failed.contains("SCRIPT_LIMIT"), "{failed}");
    }
    assert!(call("ok").contains("42"));
}
