//! What came of a series of a metric.

/// What came of a series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Point {
    Sum(i64),
    Histogram { count: u64, sum: f64, min: f64, max: f64, buckets: Vec<u64>, exemplar: Option<Exemplar> },
}

/// A value of a histogram, with the trace that it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exemplar {
    pub(crate) value: f64,
    pub(crate) trace_id: String,
    pub(crate) at_ns: u64,
}

impl Point {
    /// Adds what came of the same series at another time.
    pub(crate) fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Sum(sum), Self::Sum(by)) => *sum = sum.saturating_add(by),
            (
                Self::Histogram { count, sum, min, max, buckets, exemplar },
                Self::Histogram { count: more, sum: by, min: low, max: high, buckets: others, exemplar: other },
            ) => {
                *count += more;
                *sum += by;
                *min = min.min(low);
                *max = max.max(high);
                buckets.iter_mut().zip(others).for_each(|(bucket, other)| *bucket += other);
                *exemplar = exemplar.take().or(other);
            }
            // A series has one kind.
            (Self::Sum(_), Self::Histogram { .. }) | (Self::Histogram { .. }, Self::Sum(_)) => {}
        }
    }
}
