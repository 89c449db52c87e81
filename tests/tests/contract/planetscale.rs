//! The connector `planetscale`, over a stand-in for PlanetScale's API in front of a real MariaDB:
//! nothing but text carries values there.

use std::path::Path;

use millrace_tests::{far_group::Far, planetscale, scripted::Scripted};

use super::{
    Site,
    hostile::Hostile,
    mysql::{HOSTILE, OTHER_QUOTES, hostile_values},
};

/// Moves the app to a stand-in, which lives as long as the process.
fn moved(start: fn(u16, &str) -> Scripted) -> impl FnOnce(&Site, &Path) -> String {
    move |site, folder| {
        Far::Planetscale.rewrite(folder);
        planetscale::url(&start(site.port(), &site.database))
    }
}

#[test]
fn hostile_values_come_back_through_every_form() {
    hostile_values(&Hostile { each: 12, ..HOSTILE }, &[], moved(planetscale::start));
}

#[test]
fn hostile_values_come_back_from_a_server_with_other_quotes() {
    hostile_values(&Hostile { each: 12, ..HOSTILE }, &OTHER_QUOTES, moved(planetscale::start_with_modes_of_server));
}
