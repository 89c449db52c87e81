//! Which table, where it is, and who asks.

use millrace_aws::AwsService;
use millrace_core::{Error, ErrorKind, Result, ports::Env};

/// A table and the credentials for it. Prints no secret.
#[derive(Clone, Debug)]
pub struct DynamoDbSettings {
    pub(super) table: String,
    pub(super) service: AwsService,
}

impl DynamoDbSettings {
    /// Reads the variables that [`AwsService::of`] names; another server with the same protocol is
    /// `AWS_ENDPOINT_URL_DYNAMODB`.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): a variable is missing or wrong, or `table` is
    /// not a name of a table.
    pub fn of(table: &str, env: &dyn Env) -> Result<Self> {
        let is_name = table.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if !(3..=255).contains(&table.len()) || !is_name {
            let message = "a DynamoDB table's name has 3 to 255 letters, digits, `_`, `-` and `.`";
            return Err(Error::new(ErrorKind::Configuration, message));
        }
        let service = AwsService::of("dynamodb", "AWS_ENDPOINT_URL_DYNAMODB", "a cache in DynamoDB", env)?;
        Ok(Self { table: table.to_owned(), service })
    }

    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }
}
