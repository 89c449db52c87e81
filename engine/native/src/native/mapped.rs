//! The memory of instances on Linux: a private mapping of the image, of which the system knows what
//! was touched.
//!
//! An image is a file in memory that can no longer be changed. Each instance maps it over the
//! beginning of its linear memory, copy on write. The pages that a call has touched are then those
//! that are not of the file, and `/proc/self/pagemap` says which: putting them back costs some
//! microseconds where a copy of all would cost ten times as much.
#![allow(unsafe_code)]

use std::{
    ffi::c_void,
    fs::File,
    io,
    ops::{Deref, Range},
    os::{fd::OwnedFd, unix::fs::FileExt},
    ptr::{self, NonNull},
    sync::{Arc, OnceLock},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create},
    mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap},
    param::page_size,
};
use wasmtime::{Config, LinearMemory, Memory, MemoryCreator, MemoryType, Result, Store};

use super::{copied, module::State};
use crate::WASM_PAGE;

/// From so many touched pages on they are given back to the system, so that the next call does not
/// find them touched again.
const MANY_PAGES: usize = 512;
/// Every so many calls they are given back, too: what one call has touched, all that follow would
/// put back.
const KEPT_FOR: u32 = 32;

/// An entry of pagemap: the page is in memory, or swapped out.
const PRESENT_OR_SWAPPED: u64 = 0b11 << 62;
/// The page is one of the file.
const OF_FILE: u64 = 1 << 61;
/// The bytes of an entry.
const ENTRY_BYTES: usize = 8;

/// The bytes of an image: a mapping to read them, of a file in memory where the system gives one of
/// that size.
pub(crate) struct Bytes {
    file: Option<OwnedFd>,
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: nothing writes to the mapping once it was made, and its file, where it has one, is sealed
// against writing: the bytes never change.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// Copies the memory of an instance. What is below `stack_pointer` is rubbish, and not kept.
    pub(crate) fn new(memory: &[u8], stack_pointer: usize) -> Result<Self> {
        let kept = (stack_pointer / page_size() * page_size()).min(memory.len());
        Self::in_file(memory, kept)
            // `ulimit -f` holds for files in memory, too.
            .or_else(|_| Self::in_memory(memory, kept))
    }

    fn in_file(memory: &[u8], kept: usize) -> Result<Self> {
        let file = memfd_create("millrace-image", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let length = memory.len();
        ftruncate(&file, length as u64)?;
        let file = File::from(file);
        // A file has no bytes where none were written: those of the stack are zero.
        file.write_all_at(&memory[kept..], kept as u64)?;
        let file = OwnedFd::from(file);
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        // SAFETY: a new mapping at a place that the system chooses overlaps nothing.
        let start = unsafe { mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, &file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at null"))?;
        Ok(Self { file: Some(file), start, length })
    }

    fn in_memory(memory: &[u8], kept: usize) -> Result<Self> {
        let length = memory.len();
        // SAFETY: a new mapping at a place that the system chooses overlaps nothing.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }?;
        let start = NonNull::<u8>::new(start.cast()).ok_or_else(|| io::Error::other("mapped at null"))?;
        // SAFETY: the mapping is new, writable and `length` bytes long, and nobody else knows of
        // it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), length) };
        bytes[kept..].copy_from_slice(&memory[kept..]);
        Ok(Self { file: None, start, length })
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and nothing borrows from a value that is dropped.
        // What fails leaves a mapping behind, no more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping has this length, is readable, lives as long as `self`, and never
        // changes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

/// A linear memory: reserved address space, of which the beginning can be used.
struct Mapped {
    start: NonNull<u8>,
    /// All of it, with the guard that the machine code relies on.
    reserved: usize,
    size: usize,
    capacity: usize,
}

// SAFETY: the mapping belongs to this value alone, and whoever has it may use it from any thread.
unsafe impl Send for Mapped {}
// SAFETY: `&Mapped` gives out a pointer and numbers, no access.
unsafe impl Sync for Mapped {}

// SAFETY: `start` is that of a mapping of `reserved` bytes until the value is dropped. The first
// `size` of them can be read and written, nothing else can; `grow_to` makes more of them usable
// without moving any.
unsafe impl LinearMemory for Mapped {
    fn byte_size(&self) -> usize {
        self.size
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    fn grow_to(&mut self, new_size: usize) -> Result<()> {
        if new_size > self.capacity {
            return Err(io::Error::other("a memory larger than its reservation").into());
        }
        let more = new_size.saturating_sub(self.size);
        if more > 0 {
            // SAFETY: within the mapping, of which nobody else changes the protection; `size` is a
            // multiple of the page size.
            unsafe { mprotect(self.start.as_ptr().add(self.size).cast(), more, MprotectFlags::READ | MprotectFlags::WRITE) }?;
            self.size = new_size;
        }
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `Creator`, and the runtime drops a memory when nothing
        // uses it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.reserved) };
    }
}

struct Creator;

// SAFETY: the memory that is made is zero, as long as was asked for, within a reservation followed
// by the guard, neither of which can be accessed.
unsafe impl MemoryCreator for Creator {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> std::result::Result<Box<dyn LinearMemory>, String> {
        let capacity = reserved.or(maximum).unwrap_or(minimum).max(minimum);
        let all = capacity.checked_add(guard).ok_or("a memory larger than the address space")?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at a place that the system chooses overlaps nothing.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), all, ProtFlags::empty(), flags) }.map_err(|error| error.to_string())?;
        let start = NonNull::new(start.cast()).ok_or("mapped at null")?;
        let mut memory = Mapped { start, reserved: all, size: 0, capacity };
        memory.grow_to(minimum).map_err(|error| error.to_string())?;
        Ok(Box::new(memory))
    }
}

/// Makes the runtime take memory from here.
pub(crate) fn configure(config: &mut Config) {
    config.with_host_memory(Arc::new(Creator));
}

/// Makes the memory of a new instance that of an image.
pub(crate) fn attach(memory: &Memory, store: &mut Store<State>, image: &Bytes) -> Result<()> {
    let missing = image.len().saturating_sub(memory.data_size(&*store)).div_ceil(WASM_PAGE);
    memory.grow(&mut *store, missing as u64)?;
    let data = memory.data_mut(&mut *store);
    let used = image.len()..data.len();
    data[used].fill(0);
    let Some(file) = &image.file else {
        data[..image.len()].copy_from_slice(image);
        return Ok(());
    };
    let start: *mut c_void = data.as_mut_ptr().cast();
    // SAFETY: the place is the beginning of this memory, at least as long as the image, and
    // readable and writable before and after. The store is borrowed, so that nothing runs in it and
    // nobody holds a reference into it, and no longer used in this function.
    unsafe { mmap(start, image.len(), ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED, file, 0) }?;
    Ok(())
}

/// Puts an image back, for the time with that number.
pub(crate) fn restore(memory: &Memory, store: &mut Store<State>, image: &Bytes, stack_pointer: usize, times: u32) -> Result<()> {
    let data = memory.data_mut(store);
    let Some(touched) = image.file.as_ref().and_then(|_| Touched::of(data)) else {
        copied::copy(data, image, stack_pointer);
        return Ok(());
    };
    if touched.pages > MANY_PAGES || times.is_multiple_of(KEPT_FOR) {
        // SAFETY: the place is this memory, which is borrowed. What is dropped there is read anew:
        // from the image's file, and as zeros behind it.
        unsafe { madvise(data.as_mut_ptr().cast(), data.len(), Advice::LinuxDontNeed) }?;
        return Ok(());
    }
    for Range { start, end } in touched.ranges {
        let middle = image.len().clamp(start, end);
        if start < middle {
            data[start..middle].copy_from_slice(&image[start..middle]);
        }
        data[middle..end].fill(0);
    }
    Ok(())
}

/// What of a memory was written to since it was mapped.
struct Touched {
    ranges: Vec<Range<usize>>,
    pages: usize,
}

impl Touched {
    /// `None` where the system does not say.
    fn of(memory: &[u8]) -> Option<Self> {
        static PAGEMAP: OnceLock<Option<File>> = OnceLock::new();
        let pagemap = PAGEMAP.get_or_init(|| File::open("/proc/self/pagemap").ok()).as_ref()?;
        let page = page_size();
        let first = memory.as_ptr().addr() / page;
        let mut entries = [0; 16 << 10];
        let (mut ranges, mut pages) = (Vec::<Range<usize>>::new(), 0);
        let all = memory.len() / page;
        let mut done = 0;
        while done < all {
            let wanted = &mut entries[..((all - done) * ENTRY_BYTES).min(16 << 10)];
            pagemap.read_exact_at(wanted, ((first + done) * ENTRY_BYTES) as u64).ok()?;
            for (index, entry) in wanted.as_chunks::<ENTRY_BYTES>().0.iter().enumerate() {
                let entry = u64::from_ne_bytes(*entry);
                if entry & PRESENT_OR_SWAPPED == 0 || entry & OF_FILE != 0 {
                    continue;
                }
                let start = (done + index) * page;
                pages += 1;
                match ranges.last_mut() {
                    Some(last) if last.end == start => last.end += page,
                    _ => ranges.push(start..start + page),
                }
            }
            done += wanted.len() / ENTRY_BYTES;
        }
        Some(Self { ranges, pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_the_same_in_a_file_and_in_memory() {
        let memory: Vec<u8> = (0..WASM_PAGE * 3).map(|at| (at % 251) as u8).collect();
        let kept = page_size() * 2;
        let (file, plain) = (Bytes::in_file(&memory, kept).unwrap(), Bytes::in_memory(&memory, kept).unwrap());
        assert!(file.file.is_some() && plain.file.is_none());
        assert_eq!(*file, *plain);
        assert_eq!(file[..kept], vec![0; kept]);
        assert_eq!(file[kept..], memory[kept..]);
    }
}
