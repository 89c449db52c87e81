//! What a plan is asked for with: statements that no driver refuses, as it does others of their
//! kind.

/// What the names begin with of statements that are prepared for their plan.
pub const PLANNED: &str = "millrace_plan_";
/// What makes the server plan a prepared statement for any values, until the transaction ends.
pub const FOR_ANY_VALUES: &str = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)";
