//! The memory of instances where it is not mapped: the runtime's own, into which an image is
//! copied. Nothing here is unsafe.

use std::ops::Deref;

use wasmtime::{Config, Memory, Result, Store};

use super::module::State;
use crate::WASM_PAGE;

/// The bytes of an image.
pub(crate) struct Bytes(Vec<u8>);

impl Bytes {
    /// Copies them. What is below `stack_pointer` is rubbish, and not kept.
    #[expect(clippy::unnecessary_wraps, reason = "as where it is mapped")]
    pub(crate) fn new(memory: &[u8], stack_pointer: usize) -> Result<Self> {
        let mut bytes = memory.to_vec();
        bytes.iter_mut().take(stack_pointer).for_each(|byte| *byte = 0);
        Ok(Self(bytes))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

pub(crate) fn configure(_: &mut Config) {}

/// Makes the memory of a new instance as large as an image.
pub(crate) fn attach(memory: &Memory, store: &mut Store<State>, image: &Bytes) -> Result<()> {
    let missing = image.len().saturating_sub(memory.data_size(&*store)).div_ceil(WASM_PAGE);
    memory.grow(&mut *store, missing as u64)?;
    Ok(())
}

/// Puts an image back.
#[expect(clippy::unnecessary_wraps, reason = "as where it is mapped")]
pub(crate) fn restore(memory: &Memory, store: &mut Store<State>, image: &Bytes, stack_pointer: usize, _: u32) -> Result<()> {
    copy(memory.data_mut(store), image, stack_pointer);
    Ok(())
}

/// Copies an image over a memory that is at least as long. The stack, which is below
/// `stack_pointer`, keeps its rubbish: no script can read it.
pub(crate) fn copy(memory: &mut [u8], image: &[u8], stack_pointer: usize) {
    let (lower, upper) = memory.split_at_mut(image.len());
    lower[stack_pointer..].copy_from_slice(&image[stack_pointer..]);
    upper.fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_stack_is_put_back() {
        let image = Bytes::new(&[9, 9, 1, 2, 3], 2).unwrap();
        assert_eq!(*image, [0, 0, 1, 2, 3]);
        let mut memory = [7; 8];
        copy(&mut memory, &image, 2);
        assert_eq!(memory, [7, 7, 1, 2, 3, 0, 0, 0]);
    }
}
