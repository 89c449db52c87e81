//! Everything of an app that holds a template: what it needs of its environment, and what of a call
//! it looks at.

use super::{
    App, Auth, Bind, Content, Embedded, EnvPart, EnvTemplate, ExpectedKey, HASH_KEY, InputSource, MiddlewareAction, Part, Piece, Presenter,
    PromptContent, RateLimit, ResourceUrl, Source, Statement, Template, TemplatePart, Tool, ToolUse, ValueTemplate, ValueText,
};
use crate::expression::{Expression, Step};

/// Whose template it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holder<'a> {
    /// The app's settings.
    App,
    /// The adapter of this name.
    Adapter(&'a str),
    /// The tool of this name.
    Tool(&'a str),
    /// The prompt of this name.
    Prompt(&'a str),
    /// A resource; its place in [`App::resources`].
    Resource(usize),
    /// The key of this name of an `auth`: that of the tool, or the root's for prompts and
    /// resources.
    Key {
        /// The key.
        key: &'a str,
        /// The tool's name.
        tool: Option<&'a str>,
    },
}

/// What a template names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TemplateReference<'a> {
    /// An environment variable.
    Variable(&'a str),
    /// A secret of the deployment.
    Secret(&'a str),
    /// A value of the call.
    Value(&'a Source),
    /// The value of a path in an expression.
    Path(&'a [Step]),
}

/// Is shown what templates name.
pub type Visit<'v, 'a> = dyn FnMut(Holder<'a>, TemplateReference<'a>) + 'v;

impl App {
    /// Shows everything that a template of the app names, in the app's order; what is named twice
    /// is shown twice.
    pub fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a>) {
        for name in &self.env {
            visit(Holder::App, TemplateReference::Variable(name));
        }
        for name in &self.secrets {
            visit(Holder::App, TemplateReference::Secret(name));
        }
        if let Some(resource) = &self.authorization.resource {
            if let ResourceUrl::Url(url) = &resource.url {
                of_env(url, Holder::App, visit);
            }
            resource.authorization_servers.iter().for_each(|server| of_env(server, Holder::App, visit));
        }
        for auth in self.feature_auth.iter().flat_map(Auth::entries) {
            of_auth(auth, Holder::App, visit);
        }
        for adapter in &self.adapters {
            let holder = Holder::Adapter(&adapter.name);
            of_env(&adapter.connection_string, holder, visit);
            adapter.options.iter().for_each(|(_, option)| of_env(option, holder, visit));
            adapter.session.iter().for_each(|setting| of_pieces(&setting.value, holder, visit));
        }
        self.tools.iter().for_each(|tool| tool.visit(visit));
        if self.presenters.iter().any(Presenter::hashes) || self.audits_hash() {
            visit(Holder::App, TemplateReference::Variable(HASH_KEY));
        }
        for prompt in &self.prompts {
            let holder = Holder::Prompt(&prompt.name);
            for message in &prompt.messages {
                match &message.content {
                    PromptContent::Text(template) => of_template(template, holder, visit),
                    PromptContent::Image(_) | PromptContent::Audio(_) => {}
                    PromptContent::Resource { uri, content, .. } => {
                        of_template(uri, holder, visit);
                        if let Embedded::Text(template) = content {
                            of_template(template, holder, visit);
                        }
                    }
                    PromptContent::Tool(used) => of_use(used, holder, visit),
                }
            }
        }
        for (place, resource) in self.resources.iter().enumerate() {
            of_content(&resource.content, Holder::Resource(place), visit);
        }
    }
}

impl App {
    /// Whether an audit has digests of inputs.
    pub(super) fn audits_hash(&self) -> bool {
        let entries = self.tools.iter().flat_map(|tool| &tool.middleware);
        entries.into_iter().any(|entry| matches!(&entry.action, MiddlewareAction::Audit(audit) if audit.hashes()))
    }
}

impl Tool {
    /// The same for one tool.
    pub fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a>) {
        let holder = Holder::Tool(&self.name);
        for auth in self.auth.iter().flat_map(Auth::entries) {
            of_auth(auth, holder, visit);
        }
        for (_, value) in self.context.values() {
            of_value(value, holder, visit);
        }
        for entry in &self.middleware {
            match &entry.action {
                MiddlewareAction::Script { .. } | MiddlewareAction::RequireScope(_) => {}
                MiddlewareAction::Derive(values) => values.iter().for_each(|(_, value)| of_value(value, holder, visit)),
                MiddlewareAction::Require { when, message, .. } => {
                    of_expression(when, holder, visit);
                    of_template(message, holder, visit);
                }
                MiddlewareAction::Audit(audit) => {
                    of_value(&audit.subject, holder, visit);
                    audit.tenant.iter().for_each(|tenant| of_value(tenant, holder, visit));
                }
                MiddlewareAction::RateLimit(limit) => of_rate(limit, holder, visit),
            }
        }
        if let Some(limit) = &self.limits.rate {
            of_rate(limit, holder, visit);
        }
        if let Some(confirm) = &self.confirm {
            of_template(confirm, holder, visit);
        }
        if let Some(idempotency) = &self.idempotency {
            of_template(&idempotency.key, holder, visit);
        }
        if let Some(key) = self.cache.as_ref().and_then(|cache| cache.key.as_ref()) {
            of_template(key, holder, visit);
        }
        self.execute.statements().for_each(|statement| of_statement(statement, holder, visit));
        for rule in &self.errors.on {
            of_expression(&rule.when, holder, visit);
            of_template(&rule.message, holder, visit);
        }
    }
}

fn of_auth<'a>(auth: &'a Auth, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    match auth {
        // `any` is taken apart before, and no entry of it has one.
        Auth::AllowAll | Auth::Any(_) => {}
        Auth::ApiKey(policy) => {
            let tool = if let Holder::Tool(tool) = holder { Some(tool) } else { None };
            for key in &policy.keys {
                let (ExpectedKey::Value(template) | ExpectedKey::Sha256(template)) = &key.expected;
                of_env(template, Holder::Key { key: &key.name, tool }, visit);
            }
        }
        Auth::Script { policy, .. } => policy.templates.iter().for_each(|(_, template)| of_env(template, holder, visit)),
        Auth::Jwt(policy) => policy.templates().for_each(|template| of_env(template, holder, visit)),
    }
}

fn of_env<'a>(template: &'a EnvTemplate, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    for part in &template.0 {
        match part {
            EnvPart::Text(_) | EnvPart::Caller(_) => {}
            EnvPart::Env(name) => visit(holder, TemplateReference::Variable(name)),
            EnvPart::Secret(secret) => visit(holder, TemplateReference::Secret(&secret.name)),
        }
    }
}

fn of_template<'a>(template: &'a Template, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    for part in &template.0 {
        match part {
            TemplatePart::Text(_) => {}
            TemplatePart::Source(source) => visit(holder, TemplateReference::Value(source)),
        }
    }
}

fn of_statement<'a>(statement: &'a Statement, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    for part in &statement.parts {
        match part {
            Part::Text(_) => {}
            Part::Env(name) | Part::EnvIdent(name) => visit(holder, TemplateReference::Variable(name)),
            Part::Bind(Bind::Value { source, .. })
            | Part::BindEach { source, .. }
            | Part::Choice { source, .. }
            | Part::ChoiceEach { source, .. }
            | Part::Textual(source) => {
                visit(holder, TemplateReference::Value(source));
            }
            Part::Bind(Bind::Composed(pieces)) => {
                of_pieces(pieces, holder, visit);
            }
        }
    }
}

fn of_pieces<'a>(pieces: &'a [Piece], holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    for piece in pieces {
        match piece {
            Piece::Text(_) => {}
            Piece::Source(source) => visit(holder, TemplateReference::Value(source)),
            Piece::Env(name) => visit(holder, TemplateReference::Variable(name)),
        }
    }
}

fn of_value<'a>(value: &'a ValueTemplate, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    for (_, text) in &value.placeholders {
        match text {
            ValueText::Whole(source) => visit(holder, TemplateReference::Value(source)),
            ValueText::Composed(pieces) => of_pieces(pieces, holder, visit),
        }
    }
}

fn of_rate<'a>(limit: &'a RateLimit, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    if let Some(key) = &limit.key {
        of_value(key, holder, visit);
    }
}

fn of_expression<'a>(expression: &'a Expression, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    expression.paths(&mut |path| visit(holder, TemplateReference::Path(path)));
}

fn of_content<'a>(content: &'a Content, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    match content {
        Content::Text(template) => of_template(template, holder, visit),
        Content::Blob(_) => {}
        Content::Tool { used, .. } => of_use(used, holder, visit),
        Content::Files { name, .. } => of_template(name, holder, visit),
    }
}

fn of_use<'a>(used: &'a ToolUse, holder: Holder<'a>, visit: &mut Visit<'_, 'a>) {
    for (_, given) in &used.inputs {
        match given {
            InputSource::Text(template) => of_template(template, holder, visit),
            InputSource::Argument(_) | InputSource::Literal(_) => {}
        }
    }
}
