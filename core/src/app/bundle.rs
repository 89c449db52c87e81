//! The bundle: an app as bytes. `MILLRACE`, the version as a little-endian `u16`, and the [`App`]
//! in [postcard](https://postcard.jamesmunns.com/wire-format), which has no maps and no padding:
//! the same app gives the same bytes.
//!
//! Two versions are read: the current one, and the one before it, so that the command and the
//! bundle can be renewed in any order. In the current one the app is encoded as in the one before,
//! and [`Additions`] follow. An app without any is written as a bundle of the version before: the
//! last release reads it, too.

use alloc::vec::Vec;
use core::fmt;

use super::{
    App, Audit, Auth, Bind, Content, EpochWrites, Execute, MiddlewareAction, Part, Piece, PresentedField, Presenter, PromptContent,
    Resource, Root, ScriptRef, SignIn, Skill, Source, Tool, Transaction, TransactionStep, additions::Additions,
};

const MAGIC: &[u8; 8] = b"MILLRACE";

/// The version of the bundle encoding. Any change of [`App`] is a new version.
pub const BUNDLE_VERSION: u16 = 29;
/// The version before it, which is read, too, and written where the app has nothing new.
pub const EARLIER_BUNDLE_VERSION: u16 = 28;

/// Why bytes are no bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleError {
    /// They do not begin like one.
    NotABundle,
    /// They are a bundle of another version.
    Version(u16),
    /// They are cut short or damaged.
    Damaged,
    /// They were not made by a bundler: what they say does not fit together.
    Inconsistent(&'static str),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotABundle => f.write_str("this is not a Millrace bundle; make one with `millrace build`"),
            Self::Version(found) => write!(
                f,
                "the bundle has version {found}, this runtime reads versions {EARLIER_BUNDLE_VERSION} and {BUNDLE_VERSION}; build the app again with the `millrace` of this runtime"
            ),
            Self::Inconsistent(problem) => write!(f, "the bundle was not made by `millrace build`: {problem}; build the app again"),
            Self::Damaged => f.write_str("the bundle is cut short or damaged; build the app again"),
        }
    }
}

impl core::error::Error for BundleError {}

impl App {
    /// The app as bytes. The same app gives the same bytes.
    ///
    /// # Errors
    /// [`BundleError::Damaged`] where a value cannot be encoded, which no app of the bundler has.
    pub fn to_bundle(&self) -> Result<Vec<u8>, BundleError> {
        let additions = Additions::of(self);
        let version = if additions.is_empty() { EARLIER_BUNDLE_VERSION } else { BUNDLE_VERSION };
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(version.to_le_bytes());
        bytes.extend(postcard::to_allocvec(self).map_err(|_| BundleError::Damaged)?);
        if !additions.is_empty() {
            bytes.extend(postcard::to_allocvec(&additions).map_err(|_| BundleError::Damaged)?);
        }
        Ok(bytes)
    }

    /// The app of a bundle, whose names are in order and whose references lead somewhere.
    ///
    /// # Errors
    /// Says whether the bytes are no bundle, one of another version, or a damaged one.
    pub fn from_bundle(bytes: &[u8]) -> Result<Self, BundleError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(BundleError::NotABundle)?;
        let (version, body) = rest.split_first_chunk::<2>().ok_or(BundleError::Damaged)?;
        let has_additions = match u16::from_le_bytes(*version) {
            EARLIER_BUNDLE_VERSION => false,
            BUNDLE_VERSION => true,
            other => return Err(BundleError::Version(other)),
        };
        let (mut app, mut rest) = postcard::take_from_bytes::<Self>(body).map_err(|_| BundleError::Damaged)?;
        if has_additions {
            let additions: Additions;
            (additions, rest) = postcard::take_from_bytes(rest).map_err(|_| BundleError::Damaged)?;
            additions.apply(&mut app).ok_or(BundleError::Inconsistent("what is added to an `audit` has no place"))?;
        }
        if !rest.is_empty() {
            return Err(BundleError::Damaged);
        }
        app.verify()?;
        Ok(app)
    }

    /// Holds an app to what the bundler promises of it and nothing else checks.
    fn verify(&self) -> Result<(), BundleError> {
        let has_presenter = |(place, presenter): (usize, &Presenter)| {
            presenter.fields.iter().all(|field| embeds_before(field, place))
                && presenter.actions.iter().all(|action| self.has_tool(action.tool))
        };
        let has_files_in_order = |resource: &Resource| match &resource.content {
            Content::Files { files, .. } => files.is_sorted_by(|a, b| a.name < b.name),
            _ => true,
        };
        let is_asked = |place: &u32| self.tools.get(*place as usize).is_some_and(|tool| tool.auth.is_some());
        let of_features = self.prompts.iter().map(|prompt| &prompt.scopes).chain(self.resources.iter().map(|resource| &resource.scopes));
        let has_scopes = of_features.flatten().next().is_some();
        let authorization = &self.authorization;
        let can_tell = authorization.sign_in == SignIn::PerTool || !authorization.entrances.is_empty() || self.feature_auth.is_some();
        let holds = [
            (self.presenters.iter().enumerate().all(has_presenter), "a presenter refers to something that it does not have"),
            (self.tools.is_sorted_by(|a, b| a.name < b.name), "its tools are not sorted by name"),
            (self.prompts.is_sorted_by(|a, b| a.name < b.name), "its prompts are not sorted by name"),
            (self.adapters.is_sorted_by(|a, b| a.name < b.name), "its adapters are not sorted by name"),
            (self.resources.iter().all(has_files_in_order), "the files of a resource are not sorted by name"),
            (
                self.skills.is_sorted_by(|a, b| a.uri < b.uri) && self.skills.iter().all(|skill| self.has_skill(skill)),
                "a skill does not have its files in order",
            ),
            (self.tools.iter().all(|tool| self.has_parts_of(tool)), "a tool refers to something that it does not have"),
            (
                self.feature_auth.as_ref().map_or(!has_scopes, |auth| self.has_auth(auth)),
                "its prompts and resources require scopes, and its `auth` for them is missing or refers to a script that it does not have",
            ),
            (authorization.entrances.iter().all(is_asked), "a tool that is asked who calls has no `auth`"),
            (can_tell, "it requires sign-in, and nothing in it can tell who calls"),
            (authorization.implied.is_sorted_by(|a, b| a.scope < b.scope), "its scopes are not sorted by name"),
            (self.has_tools_of_features(), "a prompt or a resource refers to a tool that it does not have"),
        ];
        holds.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, problem)| Err(BundleError::Inconsistent(problem)))
    }

    const fn has_tool(&self, place: u32) -> bool {
        (place as usize) < self.tools.len()
    }

    const fn has_adapter(&self, place: u32) -> bool {
        (place as usize) < self.adapters.len()
    }

    const fn has_script(&self, reference: &ScriptRef) -> bool {
        (reference.script as usize) < self.scripts.len()
    }

    fn has_epochs(&self, writes: &EpochWrites) -> bool {
        writes.epochs.iter().chain(&writes.unsettled).all(|epoch| (*epoch as usize) < self.epochs.len())
    }

    fn has_auth(&self, auth: &Auth) -> bool {
        auth.entries().iter().all(|entry| match entry {
            Auth::Script { script, .. } => self.has_script(script),
            // One in another would be passed over where entries are looked at.
            Auth::Any(_) => false,
            Auth::AllowAll | Auth::ApiKey(_) | Auth::Jwt(_) => true,
        })
    }

    fn has_skill(&self, skill: &Skill) -> bool {
        let is_resource = |place: u32| (place as usize) < self.resources.len();
        is_resource(skill.resource) && skill.files.is_none_or(is_resource) && skill.folders.is_sorted_by(|a, b| a.uri < b.uri)
    }

    /// Whether all that a tool refers to is there.
    fn has_parts_of(&self, tool: &Tool) -> bool {
        let executes = match &tool.execute {
            Execute::Statement { adapter, .. } => self.has_adapter(*adapter),
            Execute::Transaction { adapter, transaction } => self.has_adapter(*adapter) && holds_together(transaction),
            Execute::Script(_) | Execute::Forward => true,
            Execute::Search(index) => index.words.iter().flat_map(|word| &word.tools).all(|(place, _)| self.has_tool(*place)),
        };
        let audits = tool.middleware.iter().all(|entry| match &entry.action {
            MiddlewareAction::Audit(Audit { table: Some(table), .. }) => self.has_adapter(table.adapter) && self.has_epochs(&table.writes),
            _ => true,
        });
        let presents = tool.returns.is_none_or(|place| (place as usize) < self.presenters.len());
        let syncs = tool.sync.as_ref().is_none_or(|sync| {
            let is_epoch = |epoch: &u32| (*epoch as usize) < self.epochs.len();
            let reads = sync.reads.as_ref().is_none_or(|reads| reads.epochs.iter().chain(&reads.unsettled).all(is_epoch));
            let scripts = sync.script_writes.iter().all(|(adapter, writes)| self.has_adapter(*adapter) && self.has_epochs(writes));
            reads && self.has_epochs(&sync.writes) && scripts
        });
        let plugin = tool.auth.as_ref().is_none_or(|auth| self.has_auth(auth));
        executes && plugin && audits && presents && syncs && tool.scripts().all(|script| self.has_script(script))
    }

    /// Whether the tools are there that prompts and resources use.
    fn has_tools_of_features(&self) -> bool {
        let arguments = self.prompts.iter().flat_map(|prompt| &prompt.arguments);
        let mut arguments = arguments.chain(self.resources.iter().flat_map(|resource| &resource.arguments));
        let messages = self.prompts.iter().flat_map(|prompt| &prompt.messages);
        let of_messages = messages.filter_map(|message| if let PromptContent::Tool(used) = &message.content { Some(used) } else { None });
        let of_resources =
            self.resources.iter().filter_map(|resource| if let Content::Tool { used, .. } = &resource.content { Some(used) } else { None });
        arguments.all(|argument| argument.complete.as_ref().is_none_or(|completer| self.has_tool(completer.tool)))
            && of_messages.chain(of_resources).all(|used| self.has_tool(used.tool))
    }
}

/// Whether each step of a transaction takes values of earlier ones only.
fn holds_together(Transaction { steps, result }: &Transaction) -> bool {
    let is_earlier = |place: usize, source: &Source| {
        source.root != Root::Steps || matches!(source.path.as_slice(), [name, _] if steps.iter().take(place).any(|step| step.name == *name))
    };
    let refers = |(place, step): (usize, &TransactionStep)| {
        step.statement.parts.iter().all(|part| match part {
            Part::Bind(Bind::Value { source, .. }) | Part::BindEach { source, .. } => is_earlier(place, source),
            Part::Bind(Bind::Composed(pieces)) => {
                pieces.iter().all(|piece| !matches!(piece, Piece::Source(source) if !is_earlier(place, source)))
            }
            Part::Choice { source, .. } | Part::ChoiceEach { source, .. } | Part::Textual(source) => source.root != Root::Steps,
            Part::Text(_) | Part::Env(_) | Part::EnvIdent(_) => true,
        })
    };
    !steps.is_empty() && result.is_none_or(|place| (place as usize) < steps.len()) && steps.iter().enumerate().all(refers)
}

/// Whether what a field embeds stands before the presenter at `place`: then no presenter embeds
/// itself.
fn embeds_before(field: &PresentedField, place: usize) -> bool {
    field.returns.is_none_or(|child| (child as usize) < place)
        && field.items.iter().all(|items| embeds_before(items, place))
        && field.fields.iter().all(|field| embeds_before(field, place))
}
