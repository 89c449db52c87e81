//! A key for tools that ask their caller, where nobody set one: `dev` and `call` make one for the
//! run.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use millrace_core::{
    app::{App, STATE_KEY},
    ports::Env,
    secret::Secret,
};
use millrace_native::env::Variables;

use crate::output::{CommandError, CommandResult, note};

/// How many random bytes a key has.
const KEY_BYTES: usize = 32;

/// A key that is made at its first use and kept until the process ends.
#[derive(Default)]
pub(crate) struct RunKey(Option<Secret<String>>);

impl RunKey {
    /// The variables, with a key where the app needs one and the variable is not there. Says so,
    /// once. An empty variable asks for none, so that a missing key can be tried.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub(crate) fn complete(&mut self, app: &App, variables: Variables) -> CommandResult<Variables> {
        if app.missing_state_key(&variables).is_none() || variables.var(STATE_KEY).is_some() {
            return Ok(variables);
        }
        let key = match &self.0 {
            Some(key) => key.clone(),
            None => {
                let mut bytes = [0; KEY_BYTES];
                getrandom::fill(&mut bytes).map_err(CommandError::wrong)?;
                let tool = app.asking_tool().map_or("", |tool| tool.name.as_str());
                note(format_args!(
                    "`{STATE_KEY}` is not set, and the tool `{tool}` asks its caller: using a key that is made for this run"
                ));
                self.0.insert(Secret::new(format!("run:{}", BASE64_STANDARD.encode(bytes)))).clone()
            }
        };
        Ok(variables.with(STATE_KEY, key))
    }
}
