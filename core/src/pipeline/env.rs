//! Text with environment variables, filled in.

use alloc::string::String;

use crate::{
    app::{EnvPart, EnvTemplate},
    ports::Env,
    secret::Secret,
};

/// A variable that is not set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnsetVariable<'a>(pub(super) &'a str);

/// Fills in a template.
///
/// # Errors
/// The first variable that is not set.
pub(super) fn fill<'a>(template: &'a EnvTemplate, env: &dyn Env) -> Result<Secret<String>, UnsetVariable<'a>> {
    let mut text = String::new();
    for part in &template.0 {
        match part {
            EnvPart::Text(literal) => text.push_str(literal),
            EnvPart::Env(name) => text.push_str(env.var(name).ok_or(UnsetVariable(name))?.expose()),
        }
    }
    Ok(Secret::new(text))
}
