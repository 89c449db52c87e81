//! Tells the port [`Observer`] which call the isolate works on.

use core::{
    future::{Future, poll_fn},
    pin::pin,
};

use crate::ports::{Observer, RunningCall};

/// Does the work of a call. Where nobody observes, that costs a comparison each time the call goes
/// on.
pub(in crate::pipeline) async fn observed<T>(observer: Option<&dyn Observer>, call: RunningCall<'_>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let _inside = observer.map(|observer| EnteredCall::enter(observer, &call));
        work.as_mut().poll(context)
    })
    .await
}

/// Leaves the call when it is dropped: also where the call panics.
struct EnteredCall<'a> {
    observer: &'a dyn Observer,
    call: &'a RunningCall<'a>,
}

impl<'a> EnteredCall<'a> {
    fn enter(observer: &'a dyn Observer, call: &'a RunningCall<'a>) -> Self {
        observer.entered(call);
        Self { observer, call }
    }
}

impl Drop for EnteredCall<'_> {
    fn drop(&mut self) {
        self.observer.left(self.call);
    }
}
