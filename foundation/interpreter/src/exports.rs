//! What the WebAssembly module exports: one buffer that a question is written to and an answer read
//! from.
//!
//! In: `reserve(length)` gives the address where so many bytes of a question are to be written. Out:
//! `answer()` gives the length of the answer, which `address()` says where to find. What the text says is told in
//! [`crate::answer`].
#![allow(unsafe_code, reason = "an export has the name that its caller knows")]

use std::sync::{Mutex, MutexGuard, PoisonError};

static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn buffer() -> MutexGuard<'static, Vec<u8>> {
    BUFFER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Room for a question of so many bytes; gives its address.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    let mut buffer = buffer();
    buffer.clear();
    buffer.resize(length, 0);
    buffer.as_mut_ptr()
}

/// Answers the question that was written; gives the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let mut buffer = buffer();
    let question = String::from_utf8_lossy(&buffer).into_owned();
    *buffer = crate::answer(&question).into_bytes();
    buffer.len()
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn address() -> *const u8 {
    buffer().as_ptr()
}
