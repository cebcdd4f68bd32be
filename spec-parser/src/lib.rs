//! Vendor text to instructions.

pub mod asl;
pub mod errata;
pub mod family;
pub mod hvx;
pub mod intel;
pub mod lowering_cache;
pub mod manifest;
pub mod matrix;
pub mod pseudocode;
pub mod roll;
pub mod signature;
pub mod specs;
pub mod yaml;
