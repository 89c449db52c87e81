//! `connector: planetscale` of a Worker, in real workerd: the answers are those of every host, and an API that misbehaves gets no write twice.

use millrace_tests::{failures, planetscale_group::PlanetscaleGroup, selected_groups, worker};

use crate::worker_neon::far_databases_that_misbehave;

#[test]
fn it_answers_the_same_through_planetscales_api() {
    let far = selected_groups().into_iter().filter_map(PlanetscaleGroup::of);
    let differences: Vec<String> = far.flat_map(|far| far.differences(worker::run(&far.group))).collect();
    assert!(differences.is_empty(), "{} cases differ\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn an_api_that_misbehaves() {
    let adapter = "connector: planetscale\nconnection_string: \"{{ env.API }}\"\noptions: { user: me, password: \"{{ env.PASSWORD }}\" }\n";
    far_databases_that_misbehave(adapter, &[("PASSWORD", "hunter2")], failures::planetscale());
}
