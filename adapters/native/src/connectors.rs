//! The connectors of a native host: all that there are.

use std::{path::PathBuf, rc::Rc};

use millrace_aws::RdsTokens;
use millrace_connectors::{DriverPorts, Lifetime, Sockets, open};
use millrace_core::{
    Result,
    ports::{Clock, Connection, Connector, Connectors, Env, HttpClient},
};

use crate::{dialer::NativeDialer, http_client::NativeHttpClient, random::SystemRandom, wait_until::Tasks};

/// Opens connections of one isolate.
pub struct NativeConnectors(DriverPorts);

impl NativeConnectors {
    /// `folder` is the one that a relative path of a database is below; what outlives a call goes
    /// to `tasks`.
    #[must_use]
    pub fn new(folder: PathBuf, clock: Rc<dyn Clock>, tasks: &Tasks) -> Self {
        Self(DriverPorts {
            // A client of its own: what scripts fetch does not take the databases' connections.
            http: Rc::new(NativeHttpClient::new(clock.clone())),
            sockets: Sockets {
                dialer: Rc::new(NativeDialer::new(folder.clone(), clock.clone())),
                lifetime: Lifetime::Isolate,
                own_roots: true,
            },
            clock,
            random: Rc::new(SystemRandom),
            wait_until: Rc::new(tasks.clone()),
            login_tokens: None,
            aws_variables: None,
            folder,
        })
    }

    /// Sends the requests of connectors that speak HTTP with this client.
    #[must_use]
    pub fn with_http(mut self, http: Rc<dyn HttpClient>) -> Self {
        self.0.http = http;
        self
    }

    /// Makes tokens of AWS IAM for adapters with `aws_iam`, and signs requests to AWS, by the
    /// `AWS_…` variables. Without it, an adapter that needs them is refused.
    #[must_use]
    pub fn with_variables(mut self, variables: Rc<dyn Env>) -> Self {
        self.0.login_tokens = Some(Rc::new(RdsTokens::new(variables.clone(), self.0.clock.clone())));
        self.0.aws_variables = Some(variables);
        self
    }
}

impl Connectors for NativeConnectors {
    fn open(&self, connection: Connection) -> Result<Rc<dyn Connector>> {
        open(connection, &self.0)
    }
}
