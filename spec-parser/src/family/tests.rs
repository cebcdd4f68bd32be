//! Tests of the family loader.
