use alloc::{string::String, vec::Vec};
use core::fmt;

use serde::{Deserialize, Serialize};

/// Text with environment variables, cut at build time: `libsql://{{ env.DB_HOST }}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvTemplate(pub Vec<EnvPart>);

impl fmt::Display for EnvTemplate {
    /// The template as its author wrote it, with names in place of values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            EnvPart::Text(text) => f.write_str(text),
            EnvPart::Env(name) => write!(f, "{{{{ env.{name} }}}}"),
            EnvPart::Secret(secret) => write!(f, "{{{{ {secret} }}}}"),
            EnvPart::Caller(source) => write!(f, "{{{{ {source} }}}}"),
        })
    }
}

/// A part of an [`EnvTemplate`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EnvPart {
    /// Text as it stands.
    Text(String),
    /// The value of a variable.
    Env(String),
    /// A secret, or a part of one.
    Secret(SecretSource),
    /// What of the caller decides which of an adapter's databases the call is for: one of
    /// [`Databases::names`].
    Caller(Source),
}

impl EnvTemplate {
    /// The template for one of an adapter's databases.
    #[must_use]
    pub fn of_database(&self, name: &str) -> Self {
        let part = |part: &EnvPart| match part {
            EnvPart::Caller(_) => EnvPart::Text(name.into()),
            other => other.clone(),
        };
        let mut parts: Vec<EnvPart> = Vec::new();
        for part in self.0.iter().map(part) {
            match (parts.last_mut(), part) {
                (Some(EnvPart::Text(before)), EnvPart::Text(text)) => before.push_str(&text),
                (_, part) => parts.push(part),
            }
        }
        Self(parts)
    }
}

/// `databases` of an adapter: the caller decides which of them a call is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Databases {
    /// What of the principal names the database: `auth.claims.org`.
    pub choice: Source,
    /// The names that it may have, sorted.
    pub names: Vec<String>,
}

/// A secret of the deployment, or a member of one that is a JSON object: `secret.DB.password`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretSource {
    /// Its name in the store.
    pub name: String,
    /// The member.
    pub member: Option<String>,
}

impl fmt::Display for SecretSource {
    /// `secret.DB.password`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "secret.{}", self.name)?;
        self.member.iter().try_for_each(|member| write!(f, ".{member}"))
    }
}

/// Text with placeholders, cut at build time: `No invoice {{ inputs.id }}.`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template(pub Vec<TemplatePart>);

impl fmt::Display for Template {
    /// The template as its author wrote it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            TemplatePart::Text(text) => f.write_str(text),
            TemplatePart::Source(source) => write!(f, "{{{{ {source} }}}}"),
        })
    }
}

/// A part of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplatePart {
    /// Text as it stands.
    Text(String),
    /// A value.
    Source(Source),
}

/// Where a placeholder's value comes from: `inputs.user.id` is root `Inputs` and path
/// `["user", "id"]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The first name.
    pub root: Root,
    /// The names after it.
    pub path: Vec<String>,
}

impl fmt::Display for Source {
    /// `inputs.user.id`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.root {
            Root::Inputs => "inputs",
            Root::Ctx => "ctx",
            Root::Auth => "auth",
            Root::Results => "results",
            Root::Arguments => "arguments",
            Root::Item => "item",
            Root::Items => "items",
            Root::Steps => "steps",
            Root::Counts => return f.write_str(&self.path.join(".")),
        })?;
        self.path.iter().try_for_each(|name| write!(f, ".{name}"))
    }
}

/// The first name of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Root {
    /// The tool's inputs, mapped and validated.
    Inputs,
    /// What context and middleware made.
    Ctx,
    /// The principal.
    Auth,
    /// The tool's result.
    Results,
    /// The arguments of a prompt, or the variables of a resource template: a name, and perhaps the
    /// text that stands where the argument is absent.
    Arguments,
    /// The item of a presenter.
    Item,
    /// The shown items of a presenter. A name after it is the list of what each item has there.
    Items,
    /// `shown`, `total` and `omitted` of a presenter's notice.
    Counts,
    /// The results of the steps of a transaction: a step's name, and a column of its only row.
    Steps,
}
