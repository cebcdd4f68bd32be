//! End-to-end tests of the isaforge binary.
