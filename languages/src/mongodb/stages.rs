//! The stages of pipelines.

use super::document::Context;

/// What a stage holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// One thing throughout.
    Of(Context),
    /// Conditions.
    Match,
    /// Settings with values that have no keys.
    Settings(Context),
    /// `$lookup`
    Lookup,
    /// `$graphLookup`
    GraphLookup,
    /// `$facet`
    Facet,
    /// `$geoNear`
    GeoNear,
    /// `$unionWith`
    UnionWith,
    /// `$vectorSearch`
    VectorSearch,
    /// It writes; `allow` must name it.
    Writes,
}

/// Every stage that is known, and what it holds.
const STAGES: [(&str, Stage); 31] = [
    ("$addFields", Stage::Of(Context::Expression)),
    ("$bucket", Stage::Of(Context::Expression)),
    ("$bucketAuto", Stage::Of(Context::Expression)),
    ("$count", Stage::Of(Context::Written)),
    ("$densify", Stage::Of(Context::Written)),
    ("$facet", Stage::Facet),
    ("$fill", Stage::Of(Context::Expression)),
    ("$geoNear", Stage::GeoNear),
    ("$graphLookup", Stage::GraphLookup),
    ("$group", Stage::Of(Context::Expression)),
    ("$limit", Stage::Of(Context::Scalar)),
    ("$lookup", Stage::Lookup),
    ("$match", Stage::Match),
    ("$merge", Stage::Writes),
    ("$out", Stage::Writes),
    ("$project", Stage::Of(Context::Expression)),
    ("$redact", Stage::Of(Context::Expression)),
    ("$replaceRoot", Stage::Of(Context::Expression)),
    ("$replaceWith", Stage::Of(Context::Expression)),
    ("$sample", Stage::Settings(Context::Scalar)),
    ("$search", Stage::Settings(Context::Search)),
    ("$searchMeta", Stage::Settings(Context::Search)),
    ("$set", Stage::Of(Context::Expression)),
    ("$setWindowFields", Stage::Of(Context::Expression)),
    ("$skip", Stage::Of(Context::Scalar)),
    ("$sort", Stage::Settings(Context::Scalar)),
    ("$sortByCount", Stage::Of(Context::Expression)),
    ("$unionWith", Stage::UnionWith),
    ("$unset", Stage::Of(Context::Written)),
    ("$unwind", Stage::Of(Context::Written)),
    ("$vectorSearch", Stage::VectorSearch),
];

/// The stages of a pipeline that changes documents.
pub(crate) const OF_CHANGES: [&str; 6] = ["$addFields", "$project", "$replaceRoot", "$replaceWith", "$set", "$unset"];

pub(crate) fn find(name: &str) -> Option<Stage> {
    STAGES.iter().find(|(known, _)| *known == name).map(|(_, stage)| *stage)
}

pub(crate) fn is_known(name: &str) -> bool {
    find(name).is_some()
}
