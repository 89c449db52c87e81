//! What a caller can call, as far as that is known without calling it: `tools.visible: callable`.
//!
//! Each distinct `auth` is asked once. Then the scopes of `require_scope` decide, and the
//! conditions of `require` that look at nothing but the principal. What only a script of the
//! middleware or the inputs can tell is taken to be allowed: a list is no lock. A caller without
//! credentials sees what signing in may open: else nothing would ever ask it to. Only what a
//! protected skill contains is shown to nobody before that.

use alloc::{rc::Rc, vec::Vec};
use core::cell::RefCell;

use crate::pipeline::{call::caller::Caller, call::scopes, isolate::runtime::Pipeline, stages::authenticate};
use crate::{
    Json,
    app::{Auth, Completer, Content, MiddlewareAction, Prompt, PromptContent, RequiredScopes, Resource, Tool},
    expression::{Expression, Step},
    fault::FaultResult,
};

/// What one caller can call.
pub struct Callable<'a> {
    pub(in crate::pipeline) pipeline: &'a Pipeline,
    pub(in crate::pipeline) caller: Caller<'a>,
    /// Who the caller is for each `auth` that was asked; `None` where it refused.
    known: RefCell<Vec<(&'a Auth, Answer)>>,
}

/// The principal, if the caller was let in and has one.
type Answer = Option<Option<Rc<Json>>>;

impl Pipeline {
    /// What a caller can call. Asks nobody yet.
    #[must_use]
    pub const fn callable<'a>(&'a self, caller: Caller<'a>) -> Callable<'a> {
        Callable { pipeline: self, caller, known: RefCell::new(Vec::new()) }
    }
}

impl<'a> Callable<'a> {
    /// Whether the caller can call a tool.
    pub async fn tool(&self, tool: &'a Tool) -> bool {
        let principal = match &tool.auth {
            None => None,
            Some(auth) if self.may_sign_in(auth) => return true,
            Some(auth) => match self.answer(auth, Some(tool)).await {
                Some(principal) => principal,
                None => return false,
            },
        };
        let principal = principal.as_deref();
        let granted = scopes::granted(principal);
        let authorization = &self.pipeline.app.authorization;
        tool.middleware.iter().all(|entry| match &entry.action {
            MiddlewareAction::RequireScope(required) => required.missing(authorization, &granted).is_none(),
            MiddlewareAction::Require { when, .. } if looks_at_principal_only(when) => {
                let roots: Vec<(&str, &Json)> = principal.iter().map(|principal| ("auth", *principal)).collect();
                when.holds(&roots, &self.pipeline.patterns)
            }
            _ => true,
        })
    }

    /// Whether the caller can have a prompt: itself and all that its tools say.
    pub async fn prompt(&self, prompt: &'a Prompt) -> bool {
        if !self.has(prompt.scopes.as_ref()).await {
            return false;
        }
        for message in &prompt.messages {
            if let PromptContent::Tool(used) = &message.content
                && !self.tool_at(used.tool).await
            {
                return false;
            }
        }
        true
    }

    /// Whether the caller can read a resource.
    pub async fn resource(&self, resource: &'a Resource) -> bool {
        if !self.has(resource.scopes.as_ref()).await {
            return false;
        }
        match &resource.content {
            Content::Tool { used, .. } => self.tool_at(used.tool).await,
            _ => true,
        }
    }

    /// Whether the caller can read a resource of fixed content with the credentials that it sent,
    /// and not only once it has signed in.
    pub async fn can_read_now(&self, resource: &'a Resource) -> bool {
        match &resource.scopes {
            Some(required) => self.is_granted(required).await,
            None => true,
        }
    }

    /// Whether the caller can call the tool that completes an argument.
    pub async fn completer(&self, completer: &Completer) -> bool {
        self.tool_at(completer.tool).await
    }

    async fn tool_at(&self, place: u32) -> bool {
        match self.pipeline.app.tools.get(place as usize) {
            Some(tool) => self.tool(tool).await,
            None => false,
        }
    }

    async fn has(&self, required: Option<&'a RequiredScopes>) -> bool {
        let Some(required) = required else { return true };
        self.pipeline.app.feature_auth.as_ref().is_some_and(|auth| self.may_sign_in(auth)) || self.is_granted(required).await
    }

    async fn is_granted(&self, required: &RequiredScopes) -> bool {
        let Some(auth) = &self.pipeline.app.feature_auth else { return false };
        let like = self.pipeline.app.tools.iter().find(|tool| tool.auth.as_ref() == Some(auth));
        let Some(principal) = self.answer(auth, like).await else { return false };
        required.missing(&self.pipeline.app.authorization, &scopes::granted(principal.as_deref())).is_none()
    }

    async fn answer(&self, auth: &'a Auth, like: Option<&'a Tool>) -> Answer {
        let known = self.known.borrow().iter().find(|(known, _)| *known == auth).map(|(_, answer)| answer.clone());
        if let Some(answer) = known {
            return answer;
        }
        self.ask(auth, like).await.ok()
    }

    /// Asks, and remembers the answer.
    pub(in crate::pipeline) async fn ask(&self, auth: &'a Auth, like: Option<&'a Tool>) -> FaultResult<Option<Rc<Json>>> {
        let answer = self.pipeline.identify(self.caller, auth, like).await.map(|principal| principal.map(Rc::new));
        self.known.borrow_mut().push((auth, answer.as_ref().ok().cloned()));
        answer
    }

    /// Whether the caller sent no credentials, and may get by signing in what this `auth` demands.
    fn may_sign_in(&self, auth: &Auth) -> bool {
        let Caller { headers, platform_caller, .. } = self.caller;
        platform_caller.is_none()
            && self.pipeline.app.authorization.signs_in(auth)
            && !authenticate::sends_credentials(headers, self.pipeline.entrances().map(|(auth, _)| auth))
    }
}

fn looks_at_principal_only(when: &Expression) -> bool {
    let mut only = true;
    when.paths(&mut |path| only &= matches!(path.first(), Some(Step::Member(root)) if root == "auth"));
    only
}
