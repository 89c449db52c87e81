//! The table of hostile values through PlanetScale's API: nothing but text carries them there.

use std::path::Path;

use millrace_tests::{far_group::Far, mysql::Mysql, planetscale, scripted::Scripted};

use crate::mysql::hostile::every_value_comes_back_through;

/// Moves the app to a stand-in, which lives as long as the process.
fn moved(start: fn(u16, &str) -> Scripted) -> impl FnOnce(&Mysql, &Path) -> String {
    move |server, folder| {
        Far::Planetscale.rewrite(folder);
        planetscale::url(&start(server.port, "shop"))
    }
}

#[test]
fn every_value_comes_back_through_every_form() {
    every_value_comes_back_through(&[], moved(planetscale::start));
}

#[test]
fn every_value_comes_back_from_a_server_with_other_quotes() {
    let settings = ["--sql-mode=ANSI,NO_BACKSLASH_ESCAPES", "--character-set-server=latin1", "--collation-server=latin1_general_ci"];
    every_value_comes_back_through(&settings, moved(planetscale::start_with_modes_of_server));
}
