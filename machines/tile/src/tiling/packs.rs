//! Factors of which neighbours in the depth lie together in tiles, line behind line.
//!
//! In: a factor of a plan whose layout is packs. Out: where its tiles are loaded from: the array
//! itself where it has packs, else a copy that has; the last tile of the depth with zeros before what
//! is left over. Positions are the number of a pack and the place in it, so that no index divides.

use super::choose::{Factor, Tail};
use super::fresh;
use super::make::{Buffer, Maker, Source, with, wrapped};
use crate::sum::Dim;
use kernel::index::Index;
use kernel::tree::{Access, Expr, Stmt};

impl Maker<'_> {
    /// The same for a factor of which neighbours in the depth lie together in tiles.
    pub(super) fn source_in_packs(
        &mut self,
        factor: &Factor,
        pack: i64,
        zero: i128,
        out: &mut Vec<Stmt>,
    ) -> Source {
        let (wide, left, length) = (self.wide(), self.left_over(), self.plan.length);
        let whole = length >= wide;
        let (elem, layout) = (factor.elem, factor.layout);
        // All lines of a tile are there, also of what has no lines.
        let row = factor.row.unwrap_or_else(|| Dim {
            var: fresh(self.kernel, "r"),
            count: self.shape.rows,
        });
        let factor = &Factor {
            row: Some(row),
            ..factor.clone()
        };
        let direct = factor.direct.as_ref().filter(|_| whole);
        let copied = whole && direct.is_none() || factor.tail == Tail::Copy;
        let place = copied.then(|| self.place_in_packs(factor, pack, out));
        let main = match (direct, &place) {
            (Some(access), _) => Some(self.packs_in_place(access)),
            (None, Some(place)) if whole => {
                let var = fresh(self.kernel, "k");
                let packs = Dim {
                    var,
                    count: length / pack,
                };
                Some(self.packs(factor, (pack, packs), place, out))
            }
            _ => None,
        };
        let tail = match (factor.tail, place) {
            (Tail::None, _) | (Tail::Copy, None) => None,
            (Tail::Shift, _) => main.as_ref().map(|main| {
                let by = Index::Sym(self.at).offset((length - wide) / pack);
                with(main, &[(self.at, by)])
            }),
            (Tail::Copy, Some(place)) => {
                Some(self.tail_in_packs(factor, (pack, left), &place, zero, out))
            }
        };
        Source {
            main,
            tail,
            row: Some(row.var),
            elem,
            layout,
        }
    }

    /// An access to packs, with the number of the pack and the position in it.
    fn packs_in_place(&self, access: &Access) -> Access {
        let by = [self.at, self.near].map(Index::Sym);
        let replaced = self.plan.depth.iter().zip(by);
        with(
            access,
            &replaced.map(|(d, i)| (d.var, i)).collect::<Vec<_>>(),
        )
    }

    /// The value of a factor in the depth, over the number of a pack and the position in it; copied
    /// one behind the other first where loops of the depth are not cut so.
    fn place_in_packs(&mut self, factor: &Factor, pack: i64, out: &mut Vec<Stmt>) -> Expr {
        let mut replaced = match &self.plan.depth[..] {
            [] => Vec::new(),
            [one] => {
                let at = Index::Sym(self.at).times(pack).plus(&Index::Sym(self.near));
                vec![(one.var, at)]
            }
            [packs, one] if one.count == pack => vec![
                (packs.var, Index::Sym(self.at)),
                (one.var, Index::Sym(self.near)),
            ],
            _ => {
                let lines = self.packed(factor, out);
                let at = Index::Sym(self.at).times(pack).plus(&Index::Sym(self.near));
                return self.load(with(&lines, &[(self.at, at)]));
            }
        };
        let mut value = factor.value.clone();
        value.for_each_index_mut(&mut |i| {
            for (var, by) in &mut replaced {
                *i = i.substitute(*var, by).simplified();
            }
        });
        value
    }

    /// The dimensions of a copy in packs and the index of an element of it.
    fn shape_in_packs(
        &self,
        factor: &Factor,
        packs: i64,
        pack: i64,
    ) -> (Vec<i64>, [Vec<Index>; 2]) {
        let (mut dims, mut index) = (Vec::new(), Vec::new());
        for other in &factor.others {
            dims.push(other.count);
            index.push(Index::Sym(other.var));
        }
        let lines = factor.row.map_or(1, |d| d.count.max(self.shape.rows));
        dims.extend([packs, lines, pack]);
        let line = factor.row.map_or(Index::Const(0), |d| Index::Sym(d.var));
        (dims, [index, vec![line]])
    }

    /// A factor that is copied into packs.
    fn packs(
        &mut self,
        factor: &Factor,
        (pack, packs): (i64, Dim),
        place: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Access {
        let (dims, [others, line]) = self.shape_in_packs(factor, packs.count, pack);
        let buffer = Buffer::new(self.kernel, factor.elem, dims);
        let to = |at: Index, near: Index| {
            let index = [&others[..], &[at], &line[..], &[near]].concat();
            buffer.at(&index, self.span)
        };
        let at = Index::Sym(packs.var);
        let each = (0..pack).map(|near| {
            let near = Index::Const(near);
            let value = self.in_pack(place, (&at, &near));
            self.assign(to(at.clone(), near), value, false)
        });
        let around = factor.others.iter().chain(&factor.row).chain([&packs]);
        let around: Vec<Dim> = around.copied().collect();
        out.extend(wrapped(&around, each.collect(), self.span));
        to(Index::Sym(self.at), Index::Sym(self.near))
    }

    /// The value of a factor at a position of a pack.
    fn in_pack(&self, place: &Expr, (at, near): (&Index, &Index)) -> Expr {
        let mut value = place.clone();
        value.for_each_index_mut(&mut |i| {
            *i = i.substitute(self.at, at).substitute(self.near, near);
            *i = i.clone().simplified();
        });
        value
    }

    /// The last tile of the depth in packs: zeros, then what is left over.
    fn tail_in_packs(
        &mut self,
        factor: &Factor,
        (pack, left): (i64, i64),
        place: &Expr,
        zero: i128,
        out: &mut Vec<Stmt>,
    ) -> Access {
        let wide = self.wide();
        let (dims, [others, line]) = self.shape_in_packs(factor, wide / pack, pack);
        let buffer = Buffer::new(self.kernel, factor.elem, dims);
        let to = |at: Index, near: Index| {
            let index = [&others[..], &[at], &line[..], &[near]].concat();
            buffer.at(&index, self.span)
        };
        let each = (0..wide).map(|p| {
            let at = (Index::Const(p / pack), Index::Const(p % pack));
            let from = p - wide + self.plan.length;
            let value = match p < wide - left {
                true => self.constant(zero, factor.elem),
                false => {
                    let from = (Index::Const(from / pack), Index::Const(from % pack));
                    self.in_pack(place, (&from.0, &from.1))
                }
            };
            self.assign(to(at.0, at.1), value, false)
        });
        let around = factor.others.iter().chain(&factor.row);
        let around: Vec<Dim> = around.copied().collect();
        out.extend(wrapped(&around, each.collect(), self.span));
        to(Index::Sym(self.at), Index::Sym(self.near))
    }
}
