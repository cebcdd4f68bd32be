//! Vendor text to instructions.
