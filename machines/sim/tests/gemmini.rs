//! Gemmini from its own specification: traps, errors, orders, products against plain loops.

mod gemmini {
    pub(crate) mod board;
    mod configurations;
    mod errors;
    mod moves;
    mod products;
    mod timing;
    mod traps;
}
