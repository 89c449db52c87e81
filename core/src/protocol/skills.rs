//! `skills/get` and `resources/directory/read` of the [extension for
//! skills](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx):
//! what the bundler wrote of a skill and of its folders. Its files are resources, and `skills/list`
//! is a list as any other.

use alloc::{string::String, vec::Vec};

use serde_json::{Map, json};

use super::{
    exchange::Exchange,
    methods::text,
    rpc_error::{INVALID_PARAMS, RpcError},
};
use crate::{Json, app::Skill, pipeline::Operation};

impl Exchange<'_> {
    /// `skills/get`
    pub(super) async fn get_skill(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let uri = text(params, "uri")?;
        let skills = &self.app().skills;
        let place = skills.binary_search_by(|skill| skill.uri.as_str().cmp(&uri));
        let skill = place.ok().and_then(|place| skills.get(place)).ok_or_else(|| nothing("Skill not found", &uri))?;
        self.admit_to(skill).await?;
        let mut result = self.result();
        result.raw("skill", &skill.descriptor);
        result.cacheable(self.cache_scope(self.app().is_protected(skill)));
        Ok(result.finish())
    }

    /// `resources/directory/read`. A skill has fewer files than a page has entries, so there is one
    /// page.
    pub(super) async fn read_directory(&self, params: &mut Map<String, Json>) -> Result<Vec<u8>, RpcError> {
        let uri = text(params, "uri")?;
        let mut folders = self.app().skills.iter().flat_map(|skill| skill.folders.iter().map(move |folder| (skill, folder)));
        let found = folders.find(|(_, folder)| folder.uri == uri);
        let (skill, folder) = found.ok_or_else(|| nothing("Directory not found", &uri))?;
        self.admit_to(skill).await?;
        if !matches!(params.get("cursor"), None | Some(Json::Null)) {
            return Err(RpcError::invalid_params("Invalid params: `cursor` was not issued by this list"));
        }
        let mut result = self.result();
        result.raw("resources", &folder.children);
        Ok(result.finish())
    }

    async fn admit_to(&self, skill: &Skill) -> Result<(), RpcError> {
        let resource = self.app().resources.get(skill.resource as usize);
        let scopes = resource.and_then(|resource| resource.scopes.as_ref());
        self.admit(&skill.uri, Operation { scopes, needs_caller: self.is_locked(), ..Operation::default() }).await
    }
}

/// Both eras have the same code here.
fn nothing(message: &str, uri: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, message).with_data(json!({ "uri": uri }))
}
