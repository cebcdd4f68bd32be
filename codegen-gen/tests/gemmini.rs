//! Kernels mapped to Gemmini, run in the simulator, against the kernel language's evaluator.

mod riscv;

mod gemmini {
    mod bench;
    mod kernels;
    mod operands;
    mod refused;
    mod text;
}
