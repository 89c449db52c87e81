//! The connector `sqlite` on its own files.

use millrace_tests::database::{Database, connection};

use super::hostile::Hostile;

#[test]
fn hostile_values_come_back_through_every_form() {
    let hostile = Hostile {
        app: "app",
        forms: 15,
        wrong: &[],
        nul: &[],
        least: [4, 0],
        each: 1,
        unharmed: &[("SELECT count(*) FROM sqlite_schema", 2)],
    };
    hostile.check(|_| Vec::new(), |folder| Database::open(connection("sqlite", &format!("{}", folder.join("hostile.db").display()), &[])));
}
