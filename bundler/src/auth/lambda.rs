//! `plugin: lambda`.

use millrace_core::{
    app::{Audience, Auth, EnvTemplate, JwtPolicy, KeySource, TokenCarrier},
    platform_caller::Authorizer,
};

use super::{jwt::CLAIMS, one_or_more::ONE_OR_MORE};
use crate::{
    compiler::Compiler,
    field::{Field, Named, Record, Shape},
    yaml::{Document, Node},
};

/// `auth.policy` of `lambda`
pub(crate) static LAMBDA_POLICY: Record = Record {
    name: "lambda_policy",
    noun: "the policy of `lambda`",
    doc: "Callers whom API Gateway, or a function URL, admitted before the function was invoked. On other hosts nobody is admitted.",
    fields: &[
        Field::new(
            "authorizer",
            Shape::Word(&["iam", "jwt", "cognito", "lambda"]),
            "What admits them: `iam` (a function URL, an HTTP API or a REST API with `AWS_IAM`), `jwt` (the JWT authorizer of an HTTP API), `cognito` \
             (user pools, of a REST API), `lambda` (a function of your own).",
        )
        .required(),
        Field::new("scopes", Shape::List(&Shape::Text), "The scopes that a caller must have. One that lacks one gets HTTP 403.").names(Named::Scope)
            .default("[]"),
        Field::new(
            "subject",
            Shape::Text,
            "What the authorizer says that is `auth.subject`. Not given: of `iam` `userArn`, of `jwt` and `cognito` `sub`, of `lambda` `principalId`, which HTTP APIs do not have.",
        ),
        Field::new("roles", ONE_OR_MORE, "What it says that is `auth.roles`, or several: `cognito:groups`.").default("[]"),
        Field::new("claims", CLAIMS, "What else it must say, as for `jwt`."),
    ],
};

impl Compiler<'_> {
    /// The policy of `lambda`. `None` where it is wrong, which has been said.
    pub(super) fn lambda(&mut self, document: &Document, node: &Node, path: &str) -> Option<Auth> {
        let policy = self.token_policy(document, node, path, &LAMBDA_POLICY, "Give it `authorizer`.")?;
        let word = policy.text_at("authorizer")?;
        let authorizer = Authorizer::OF_AWS.into_iter().find(|known| known.as_str() == word)?;
        let rest = self.of_caller(document, &policy);
        let subject = match (policy.entry("subject"), authorizer) {
            (Some(_), _) => rest.subject,
            (None, Authorizer::Iam) => "userArn".to_owned(),
            (None, Authorizer::Jwt | Authorizer::Cognito) => "sub".to_owned(),
            (None, Authorizer::Lambda | Authorizer::Development) => "principalId".to_owned(),
        };
        Some(Auth::Jwt(Box::new(JwtPolicy {
            plugin: "lambda".to_owned(),
            carrier: TokenCarrier::Platform(authorizer),
            issuer: EnvTemplate::default(),
            audience: Audience { claim: String::new(), values: Vec::new() },
            keys: KeySource::Platform,
            algorithms: Vec::new(),
            leeway_s: 0,
            scopes: policy.texts_at("scopes"),
            subject,
            roles: rest.roles,
            claims: rest.claims,
        })))
    }
}
