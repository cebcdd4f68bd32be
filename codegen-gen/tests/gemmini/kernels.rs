//! Products, convolutions and sums, whole and partial tiles.

use super::bench::{agrees, gemmini};

fn kernel(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/gemmini");
    std::fs::read_to_string(folder.join(format!("{name}.kernel"))).expect("a kernel")
}

#[test]
fn products_agree() {
    let machine = gemmini();
    let text = kernel("matmul");
    for sizes in [
        [16, 16, 16],
        [1, 1, 1],
        [33, 40, 50],
        [70, 17, 130],
        [128, 64, 64],
    ] {
        agrees(&machine, &text, &sizes, None);
    }
    agrees(&machine, &text, &[100, 70, 40], Some((2, 3)));
    agrees(&machine, &text, &[50, 33, 20], Some((1, 1)));
}

#[test]
fn full_width_products_agree() {
    let machine = gemmini();
    for sizes in [[16, 16, 16], [5, 3, 2], [50, 40, 99]] {
        agrees(&machine, &kernel("matmul_full"), &sizes, None);
    }
}

#[test]
fn convolutions_agree() {
    let machine = gemmini();
    for sizes in [[1, 4, 4, 3, 5], [2, 7, 7, 20, 18], [1, 3, 20, 16, 33]] {
        agrees(&machine, &kernel("conv3x3"), &sizes, None);
    }
}

#[test]
fn pooled_convolutions_agree() {
    let machine = gemmini();
    for sizes in [[1, 2, 2, 3, 5], [2, 4, 9, 20, 18]] {
        agrees(&machine, &kernel("conv1x1_pool"), &sizes, None);
        agrees(&machine, &kernel("conv3x3_pool"), &sizes, None);
    }
}

#[test]
fn sums_agree() {
    let machine = gemmini();
    for sizes in [[16, 16], [1, 1], [37, 50], [200, 64]] {
        agrees(&machine, &kernel("residual_add"), &sizes, None);
    }
}

#[test]
fn an_array_of_eight_is_an_edit() {
    let machine = super::bench::edited(&[("DIM: 16 ", "DIM: 8 ")]);
    agrees(&machine, &kernel("matmul"), &[20, 30, 17], None);
    agrees(&machine, &kernel("conv3x3"), &[1, 5, 9, 10, 12], None);
}

#[test]
fn the_hardware_loop_agrees() {
    let machine = gemmini();
    for sizes in [[16, 16, 16], [37, 50, 21], [200, 100, 40]] {
        super::bench::agrees_with(&machine, &kernel("matmul"), &sizes, None, true);
        super::bench::agrees_with(&machine, &kernel("matmul_full"), &sizes, None, true);
    }
}
