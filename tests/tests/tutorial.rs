//! The tutorial, word for word, in an empty folder.

use std::{fs, path::Path};

use millrace_tests::{
    case::root,
    docs::{blocks, text},
    files,
    local::Host,
    new_app::NewApp,
};

/// How it begins; [`NewApp`] does that.
const START: &str = "npx millrace new notes\ncd notes\nnpm install\n";

/// A server of the app, on a port that the reader does not have.
struct Dev(Option<Host>);

impl Dev {
    fn start(&mut self, app: &Path) {
        // The one before gives up its port and its database first.
        self.0 = None;
        self.0 = Some(Host::dev(app, &[]));
    }

    fn port(&self) -> u16 {
        self.0.as_ref().map_or(0, |host| host.port)
    }
}

#[test]
fn the_tutorial_does_what_it_says() {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let steps = page.lines().filter(|line| line.starts_with("## ")).count();
    assert!((10..=15).contains(&steps), "the tutorial has {steps} steps");
    let app = NewApp::make("notes", &[]);
    let mut dev = Dev(None);
    let (mut said, mut failed, mut seen) = (String::new(), false, 0);
    let blocks = blocks(&page);
    assert_eq!(blocks[0], ("sh".to_owned(), START.to_owned()));
    for (kind, body) in blocks.into_iter().skip(1) {
        match kind.as_str() {
            "text" => {
                for line in body.lines() {
                    assert!(said.contains(line), "`{line}` is not in what the command says:\n{said}");
                }
                (failed, seen) = (false, seen + 1);
            }
            _ if failed => panic!("a command failed, and the page does not say so:\n{said}"),
            "sh" if body == "npm run dev\n" => dev.start(&app.path()),
            "sh" => {
                if body.starts_with("curl ") {
                    dev.start(&app.path());
                }
                let output = app.run(&body.replace("127.0.0.1:8080/mcp -H", &format!("127.0.0.1:{}/mcp -H", dev.port())));
                (said, failed) = (text(&output), !output.status.success());
            }
            "yaml" | "ts" => {
                let (first, rest) = body.split_once('\n').unwrap();
                files::write(&app.path(), first.trim_start_matches(['#', '/', ' ']), rest);
            }
            other => panic!("the tutorial has a block of kind `{other}`, which nothing runs"),
        }
    }
    assert!(!failed && seen >= 11, "{seen} answers were compared; the last one:\n{said}");
}
