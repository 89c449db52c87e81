//! The app that `millrace new` writes without a database to look at: notes, a script, and a skill.

use super::{
    folder::AppFolder,
    from::yaml::word,
    project::{Example, Project, Seed, TableExample},
};
use crate::output::CommandResult;

/// Its files.
const FILES: [(&str, &str); 11] = [
    ("app/adapters/notes.yaml", include_str!("../../../template/notes.yaml")),
    ("app/adapters/notes.sql", include_str!("../../../template/notes.sql")),
    ("app/presenters/note.yaml", include_str!("../../../template/note.yaml")),
    ("app/skills/keep-notes/SKILL.md", include_str!("../../../template/keep-notes.md")),
    ("app/tools/find-notes/config.yaml", include_str!("../../../template/find-notes.yaml")),
    ("app/tools/find-notes/find-notes.test.yaml", include_str!("../../../template/find-notes.test.yaml")),
    ("app/tools/add-note/config.yaml", include_str!("../../../template/add-note.yaml")),
    ("app/tools/greet/config.yaml", include_str!("../../../template/greet.yaml")),
    ("app/tools/greet/greet.test.yaml", include_str!("../../../template/greet.test.yaml")),
    ("app/tools/greet/handler.ts", include_str!("../../../template/greet.ts")),
    ("tests/greet.test.ts", include_str!("../../../template/greet.test.ts")),
];

pub(super) fn write(folder: &AppFolder<'_>) -> CommandResult<Project> {
    let root = format!("name: {}\nversion: 0.1.0\ninstructions: \"Short notes with a topic each.\"\n", word(folder.name));
    folder.write("millrace.yaml", &root)?;
    for (file, text) in FILES {
        folder.write(file, text)?;
    }
    Ok(Project {
        example: Example {
            call: "find-notes q=tools".to_owned(),
            adapter: "notes".to_owned(),
            table: Some(TableExample {
                noun: "the notes".to_owned(),
                name: "notes".to_owned(),
                script_name: "notes".to_owned(),
                column: "text".to_owned(),
                parameter: "?1".to_owned(),
            }),
        },
        seed: Some(Seed { binding: "DB", file: "app/adapters/notes.sql" }),
        data: "## Data\n\n\
               The notes are in `notes.db`, a SQLite database that is created from `app/adapters/notes.sql` at the first start. Delete it to begin again.\n\n\
               `npx millrace test` runs the tests of tools, such as `app/tools/find-notes/find-notes.test.yaml`. Each has a database of its own, made from the \
               same file.\n\n"
            .to_owned(),
        worker: "In a Worker the notes are in a D1 database, which the first deployment creates. Fill it once, with `npm run seed:worker` on this machine and with\n\
                 `npm run seed:worker:remote` after the first deployment.\n"
            .to_owned(),
        lambda: "The function gets a copy of the notes as they are when it is built. What `add-note` writes there is lost when Lambda ends the instance, and \
                 `npx millrace check\n--target lambda` warns of it. To keep notes, use the connector `libsql`, `d1` or `postgres` in `app/adapters/notes.yaml`."
            .to_owned(),
    })
}
