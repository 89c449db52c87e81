//! The connections of an isolate: one connector an adapter, or one for each of its databases, made
//! at its first use and kept. One whose secrets have changed is made anew; what runs on the old one
//! ends there.
//!
//! Where a database does not accept the credentials, nothing was executed. Then the secrets are
//! read again, and where they are others by now, the same question is asked once more, with them.
//! So it is for every connector and for whoever asks: a call, a script, `/readyz`.

use alloc::{boxed::Box, format, rc::Rc, vec::Vec};
use core::cell::{Cell, RefCell};

use crate::pipeline::{isolate::deployment::Deployment, stages::signal::Signal};
use crate::{
    Error, ErrorKind, Result,
    app::{Adapter, App, EnvPart, EnvTemplate},
    cancel::Cancel,
    ports::{CallRecord, Clock, Column, Connection, Connector, Connectors, LocalFuture, Ports, Query, RecordedWrite},
    value::Rows,
};

/// The most bytes of cells that one statement may read.
pub(in crate::pipeline) const MAX_CELL_BYTES: usize = 16 << 20;
/// The most databases of one adapter that are connected at a time. The one that was used longest
/// ago goes first.
const MAX_DATABASES: usize = 32;

/// The connectors by adapter.
pub(in crate::pipeline) struct Connections {
    shared: Rc<Shared>,
    /// By adapter; those that were used last are last.
    opened: Vec<RefCell<Vec<Rc<Opened>>>>,
}

/// What every connector is opened with.
struct Shared {
    app: Rc<App>,
    connectors: Rc<dyn Connectors>,
    deployment: Rc<Deployment>,
}

/// The connector of a database, opened anew where its secrets are others.
struct Opened {
    shared: Rc<Shared>,
    /// The place of its adapter.
    adapter: usize,
    /// The name of the database, where the adapter has several.
    database: Option<Rc<str>>,
    /// Whether there are secrets that may be others when they are read again.
    has_secrets: bool,
    /// The version of the deployment's secrets that the connection was compared with last.
    version: Cell<u64>,
    connection: RefCell<Connection>,
    connector: RefCell<Rc<dyn Connector>>,
}

impl Connections {
    pub(in crate::pipeline) fn new(app: Rc<App>, ports: &Ports, deployment: Rc<Deployment>) -> Self {
        let opened = app.adapters.iter().map(|_| RefCell::default()).collect();
        Self { shared: Rc::new(Shared { app, connectors: Rc::clone(&ports.connectors), deployment }), opened }
    }

    /// The adapter and the connector of one of its databases, or of its only one. An attempt that
    /// failed is made again at the next call.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a variable that is not set or a secret that there is not;
    /// else as [`Connectors::open`](crate::ports::Connectors::open).
    pub(in crate::pipeline) fn open(&self, index: usize, database: Option<&str>) -> Result<(&Adapter, Rc<dyn Connector>)> {
        let (Some(adapter), Some(slot)) = (self.shared.app.adapters.get(index), self.opened.get(index)) else {
            return Err(Error::new(ErrorKind::Configuration, format!("the app has no adapter number {index}")));
        };
        let mut opened = slot.borrow_mut();
        let known = opened.iter().position(|known| known.database.as_deref() == database);
        if let Some(known) = known {
            // The connections that were used last are last.
            opened[known..].rotate_left(1);
            if let Some(known) = opened.last() {
                known.renew(adapter)?;
                return Ok((adapter, known.clone()));
            }
        }
        let made = Rc::new(Opened::new(&self.shared, index, adapter, database)?);
        if opened.len() >= MAX_DATABASES {
            opened.remove(0);
        }
        opened.push(made.clone());
        Ok((adapter, made))
    }

    /// Whether a database answers in time: in that of its adapter, and in `limit_ms`.
    pub(in crate::pipeline) async fn ping(&self, clock: &dyn Clock, index: usize, database: Option<&str>, limit_ms: u32) -> Result<()> {
        let (adapter, connector) = self.open(index, database)?;
        let (cancel, limit_ms) = (Cancel::new(), adapter.timeout_ms.min(limit_ms));
        let signal = Signal::new(clock, &cancel, None, limit_ms);
        signal.race(connector.ping(signal.deadline_ms())).await.unwrap_or_else(|_| {
            let message = format!("the adapter `{}` did not answer within {limit_ms} ms", adapter.name);
            Err(Error::new(ErrorKind::TimedOut, message))
        })
    }
}

impl Opened {
    fn new(shared: &Rc<Shared>, index: usize, adapter: &Adapter, database: Option<&str>) -> Result<Self> {
        let version = shared.deployment.version();
        let connection = connection(&shared.deployment, adapter, database)?;
        let names_secret = |template: &EnvTemplate| template.0.iter().any(|part| matches!(part, EnvPart::Secret(_)));
        Ok(Self {
            shared: Rc::clone(shared),
            adapter: index,
            database: database.map(Rc::from),
            has_secrets: names_secret(&adapter.connection_string) || adapter.options.iter().any(|(_, value)| names_secret(value)),
            version: Cell::new(version),
            connector: RefCell::new(shared.connectors.open(connection.clone())?),
            connection: RefCell::new(connection),
        })
    }

    /// Opens the connector anew where its secrets are others than it was opened with.
    fn renew(&self, adapter: &Adapter) -> Result<()> {
        let Shared { deployment, connectors, .. } = &*self.shared;
        let version = deployment.version();
        if self.version.get() == version {
            return Ok(());
        }
        let connection = connection(deployment, adapter, self.database.as_deref())?;
        if *self.connection.borrow() != connection {
            let connector = connectors.open(connection.clone())?;
            self.connector.replace(connector);
            self.connection.replace(connection);
        }
        self.version.set(version);
        Ok(())
    }

    /// Asks, and once more where the credentials were refused and are others by now.
    async fn ask<T>(&self, deadline_ms: u64, question: impl AsyncFn(&dyn Connector) -> Result<T>) -> Result<T> {
        let asked = Rc::clone(&self.connector.borrow());
        let answer = question(&*asked).await;
        let is_refused = answer.as_ref().is_err_and(|error| error.kind == ErrorKind::Credentials);
        if !is_refused || !self.has_secrets {
            return answer;
        }
        // On the heap: every call would carry it.
        match Box::pin(self.others(&asked, deadline_ms)).await {
            Some(other) => question(&*other).await,
            None => answer,
        }
    }

    /// The connector with other credentials than those of `refused`, where there are such.
    async fn others(&self, refused: &Rc<dyn Connector>, deadline_ms: u64) -> Option<Rc<dyn Connector>> {
        let adapter = self.shared.app.adapters.get(self.adapter)?;
        let other = || {
            // Another call may have read them meanwhile. What cannot be opened is said to the next
            // one.
            self.renew(adapter).ok()?;
            let current = self.connector.borrow();
            (!Rc::ptr_eq(&current, refused)).then(|| Rc::clone(&current))
        };
        if let Some(other) = other() {
            return Some(other);
        }
        let deployment = &self.shared.deployment;
        let mut looks = deployment.reread(deadline_ms);
        while looks.again().await {
            if let Some(other) = other() {
                return Some(other);
            }
        }
        None
    }
}

impl Connector for Opened {
    fn query<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async move { self.ask(query.deadline_ms, async |connector: &dyn Connector| connector.query(query.clone()).await).await })
    }

    fn write_once<'a>(&'a self, query: Query<'a>, record: CallRecord<'a>) -> LocalFuture<'a, Result<RecordedWrite>> {
        Box::pin(async move {
            self.ask(query.deadline_ms, async |connector: &dyn Connector| connector.write_once(query.clone(), record).await).await
        })
    }

    fn counts_changes(&self) -> bool {
        self.connector.borrow().counts_changes()
    }

    fn describe<'a>(&'a self, query: Query<'a>) -> LocalFuture<'a, Result<Option<Vec<Column>>>> {
        Box::pin(
            async move { self.ask(query.deadline_ms, async |connector: &dyn Connector| connector.describe(query.clone()).await).await },
        )
    }

    fn prepare_records(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.ask(deadline_ms, async |connector: &dyn Connector| connector.prepare_records(deadline_ms).await).await })
    }

    fn ping(&self, deadline_ms: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async move { self.ask(deadline_ms, async |connector: &dyn Connector| connector.ping(deadline_ms).await).await })
    }
}

fn connection(deployment: &Deployment, adapter: &Adapter, database: Option<&str>) -> Result<Connection> {
    let fill = |template| {
        deployment.fill_for(template, database).map_err(|unfilled| unfilled.needed_by(&format!("the adapter `{}`", adapter.name)))
    };
    let options = adapter.options.iter().map(|(name, value)| Ok((name.clone(), fill(value)?)));
    Ok(Connection {
        adapter: adapter.name.clone(),
        connector: adapter.connector.clone(),
        connection_string: fill(&adapter.connection_string)?,
        shown: match database {
            None => format!("{}", adapter.connection_string),
            Some(name) => format!("{}", adapter.connection_string.of_database(name)),
        },
        options: options.collect::<Result<_>>()?,
        read_only: adapter.read_only,
        seed: adapter.seed.clone(),
    })
}
