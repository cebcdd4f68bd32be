//! What runs leave for later runs: one content-addressed store.
//!
//! In: a kind, a key that is a digest of all that a text depends on, the text. Out: the text,
//! in this run or a later one, in this process or another, or nothing. An object is one file
//! `KIND/DIGEST` with one first line of one version; it is there whole or not at all, and what
//! is damaged is set aside, told of once, and made anew. What texts mean is their owners' to
//! know. Nothing that is kept changes a result, so losing any of it costs time only.
//!
//! | module | what |
//! |---|---|
//! | [`object`] | [`Store`](object::Store): texts by kind and key |
//! | [`pack`] | many small answers, some hundred to an object |
//! | [`shared`] | a store beside it that others write to: what lies there is proved by whoever asks |
//! | [`backend`] | where objects lie: traits, and folders of this machine |
//! | [`local`] | the cache folder, files that are written whole, what tells this program from others |

pub mod backend;
pub mod local;
pub mod object;
pub mod pack;
pub mod shared;
