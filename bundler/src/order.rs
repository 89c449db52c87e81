//! The order in which the parts of an app are read.

use millrace_core::app::App;

use crate::{
    adapter,
    app_test::{self, AppTest},
    authorization, budget, clients,
    compiler::Compiler,
    fetches, identity, load, presenter, prompt, resource, root, search, skill, sync, tool,
};

/// Compiles the app. `None` where there is none; else the app as far as it could be read, which is
/// whole where no finding is an error.
/// Its tests go to `tests`.
pub(crate) fn compile(compiler: &mut Compiler<'_>, tests: &mut Vec<AppTest>) -> Option<App> {
    let root = root::read(compiler)?;
    let mut adapters = adapter::read_all(compiler, &root.adapters_folder);
    let mut presenters = presenter::read_all(compiler, &root.presenters_folder);
    let mut tools = tool::read_all(compiler, &root, &mut adapters, &mut presenters);
    search::add(compiler, &root, &mut tools);
    presenters.finish(compiler, &tools);
    let prompts = prompt::read_all(compiler, &root, &tools);
    let resources = resource::read_all(compiler, &root, &tools);
    let (resources, skills) = skill::read_all(compiler, &root, &tools, &prompts, resources);
    let mut scripts = compiler.links.take_scripts();
    if let Some(loader) = compiler.loader {
        load::check(compiler, &mut scripts, loader);
    }
    let named = compiler.links.take_named();
    let statements = compiler.links.take_statements();
    adapters.check_named(compiler, &named);
    adapters.judge_scripts(compiler, &statements, &tools.list);
    tools.check_named(compiler, &named);
    fetches::check(compiler, &root, &named);
    compiler.scripted = statements;
    let all = std::mem::take(&mut tools.sync);
    let epochs = sync::epochs::resolve(compiler, &root.sync, &all, &mut tools.list, &adapters.list);
    let tools = tools.list;
    let (authorization, feature_auth) = authorization::read(compiler, &root, &tools, &prompts, &resources);
    skill::check_scopes(compiler, &authorization, &tools, &prompts, &resources, &skills);
    let skills: Vec<_> = skills.into_iter().map(|read| read.skill).collect();
    adapters.warn_unused(compiler, &scripts);
    if tools.is_empty() && prompts.is_empty() && resources.is_empty() && !compiler.findings.has_errors() {
        let help = format!("Add `{}/hello/config.yaml`.", root.tools_folder);
        compiler.findings.warning(&root.document.source, 0..0, "the app has no tools, no prompts and no resources", help);
    }
    let folders = [root.tools_folder.clone(), root.prompts_folder.clone(), root.resources_folder.clone()];
    let mut own = scripts.iter().filter(|script| !script.is_shared());
    let logs = own.any(|script| ["console", "log"].iter().any(|word| script.program.contains(word)));
    let mut app = App {
        name: root.name,
        version: root.version,
        identity: root.identity,
        instructions: root.instructions,
        server: root.server,
        authorization,
        feature_auth,
        batch: root.batch,
        env: root.env,
        secrets: root.secrets,
        required: root.required,
        fetch_allow: root.fetch_allow,
        telemetry: root.telemetry,
        adapters: adapters.list,
        scripts,
        logs,
        epochs,
        presenters: presenters.list,
        tools,
        prompts,
        resources,
        skills,
    };
    authorization::describe(&mut app);
    app.identity.surface = identity::surface(&app);
    clients::check_app(compiler, &root.document, &app);
    *tests = app_test::read_all(compiler, &folders, &app);
    if !compiler.findings.has_errors() {
        let measured = budget::measure(&app, (&compiler.tool_files, &compiler.presented), &root.document);
        budget::check(compiler, &root.document, &app, &measured);
        compiler.sizes = Some(measured);
    }
    Some(app)
}
