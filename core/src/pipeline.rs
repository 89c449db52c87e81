//! The thirteen stages of `tools/call`, in order.
