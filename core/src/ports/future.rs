//! The futures of the ports.

use alloc::{boxed::Box, vec::Vec};
use core::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

/// A future that stays on its isolate.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Awaits all of them at once; the answers are in the order of the futures.
pub(crate) async fn join_all<T>(mut futures: Vec<LocalFuture<'_, T>>) -> Vec<T> {
    let mut answers: Vec<Option<T>> = Vec::new();
    answers.resize_with(futures.len(), || None);
    poll_fn(|context| {
        for (future, answer) in futures.iter_mut().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *answer = Some(value);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}
