//! A response of HTTP, apart from its transport.

use alloc::vec::Vec;

use super::event_stream::EventStream;
use crate::headers::Headers;

/// One HTTP response.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header fields to send; `content-length` is the host's.
    pub headers: Headers,
    /// The body.
    pub body: ResponseBody,
}

/// The body of a [`Response`].
#[derive(Debug)]
pub enum ResponseBody {
    /// All of it.
    Whole(Vec<u8>),
    /// Server-sent events. A host that can stream sends each as it comes; any other
    /// [collects](Self::collect) them.
    Events(EventStream),
}

impl ResponseBody {
    /// All of the body; of an event stream, once the call is over.
    pub async fn collect(self) -> Vec<u8> {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Events(mut events) => {
                let mut all = Vec::new();
                while let Some(event) = events.next().await {
                    all.extend_from_slice(&event);
                }
                all
            }
        }
    }
}

impl From<Vec<u8>> for ResponseBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes)
    }
}
