//! Kernels mapped to RVM and run in the simulator.

#[path = "rvm/board.rs"]
mod board;
#[path = "rvm/case_study.rs"]
mod case_study;
#[path = "rvm/order.rs"]
mod order;
#[path = "rvm/products.rs"]
mod products;
