//! Scalar parameters as arrays of one element, for functions that are handed arrays alone.
//!
//! In: a kernel. Out: the same kernel, which reads the first element where it named the parameter.

use crate::ast::Direction;
use crate::index::Index;
use crate::tree::{Access, Array, ExprKind, Kernel, Param, Placement, Role};
use crate::visit::for_each_assign_mut;

impl Kernel {
    /// The kernel with an array of one element for each scalar parameter, behind its other arrays.
    #[must_use]
    pub fn scalars_in_arrays(&self) -> Kernel {
        let mut kernel = self.clone();
        let (first, span) = (kernel.arrays.len(), kernel.span);
        for scalar in std::mem::take(&mut kernel.scalars) {
            kernel.arrays.push(Array {
                name: scalar.name,
                elem: scalar.elem,
                dims: vec![Index::Const(1)],
                pad: 1,
                role: Role::Param(Direction::In),
                placement: Placement::default(),
                span,
            });
        }
        for param in &mut kernel.params {
            if let Param::Scalar(id) = *param {
                *param = Param::Array(first + id);
            }
        }
        let read = |kind: &mut ExprKind, span| {
            if let ExprKind::Scalar(id) = *kind {
                let index = vec![Index::Const(0)];
                *kind = ExprKind::Load(Access::element(first + id, index, span));
            }
        };
        for local in &mut kernel.locals {
            local.value.for_each_mut(&mut |e| read(&mut e.kind, e.span));
        }
        for_each_assign_mut(&mut kernel.body, &mut |a| {
            a.value.for_each_mut(&mut |e| read(&mut e.kind, e.span));
        });
        kernel
    }
}

#[cfg(test)]
mod tests;
