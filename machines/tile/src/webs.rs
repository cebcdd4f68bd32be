//! Tile registers for nests.
//!
//! In: nodes with named tiles. Out: a register for each operand, or how many are missing. A
//! tile has a value from where it is loaded or set to where that value is used last, in the
//! order of the text; a loop that uses a value from outside holds it till its end. Values that
//! do not overlap may share a register, and the one that rests longest is taken.

use crate::error::MappingError;
use crate::nest::{NestNode, Tile, TileOp};
use kernel::tree::Kernel;
use semantics::machine::{Erratum, Machine};
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// One mention of a tile.
#[derive(Clone, Debug)]
struct Mention {
    /// The position of its instruction in the text.
    at: usize,
    instruction: usize,
    operand: usize,
    defines: bool,
    /// The loops around, the outermost first.
    path: Vec<usize>,
    span: Span,
}

/// A value: where it is live, and who mentions it.
#[derive(Clone, Debug)]
struct Web {
    tile: Tile,
    from: usize,
    to: usize,
    mentions: Vec<(usize, usize)>,
    /// The instructions and operands among which it is.
    uses: BTreeSet<(usize, usize)>,
    span: Span,
}

impl Web {
    /// Whether no erratum forbids a register for it.
    fn may(&self, machine: &Machine, register: usize) -> bool {
        let forbids = |u: &(usize, usize)| machine.forbids(u.0, u.1, register as i64).is_some();
        !self.uses.iter().any(forbids)
    }
}

/// Registers by instruction, in the order of the text, and operand; and how many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) registers: BTreeMap<(usize, usize), usize>,
    pub(crate) most: usize,
}

#[derive(Default)]
struct Text {
    mentions: BTreeMap<Tile, Vec<Mention>>,
    /// The last position in each loop.
    ends: Vec<usize>,
    path: Vec<usize>,
    count: usize,
}

impl Text {
    fn nodes(&mut self, nodes: &[NestNode]) {
        for node in nodes {
            match node {
                NestNode::Loop(l) => {
                    let id = self.ends.len();
                    self.ends.push(0);
                    self.path.push(id);
                    self.nodes(&l.body);
                    self.path.pop();
                    self.ends[id] = self.count.saturating_sub(1);
                }
                NestNode::Tile(op) => self.op(op),
                NestNode::Scalar(_) => {}
            }
        }
    }

    fn op(&mut self, op: &TileOp) {
        let at = self.count;
        self.count += 1;
        for &(operand, tile, read, written) in &op.tiles {
            self.mentions.entry(tile).or_default().push(Mention {
                at,
                instruction: op.instruction,
                operand,
                defines: written && !read,
                path: self.path.clone(),
                span: op.span,
            });
        }
    }
}

/// Chooses registers.
///
/// # Errors
/// A tile that is used before it holds something, or too few registers.
pub(crate) fn choose(
    kernel: &Kernel,
    machine: &Machine,
    nodes: &[NestNode],
    count: usize,
) -> Result<Chosen, MappingError> {
    let mut text = Text::default();
    text.nodes(nodes);
    let mut webs = Vec::new();
    for (&tile, mentions) in &text.mentions {
        webs.extend(webs_of(kernel, tile, mentions, &text.ends)?);
    }
    webs.sort_by_key(|w| (w.from, w.tile));
    let live = |at: usize| webs.iter().filter(move |w| w.from <= at && at <= w.to);
    let worst = (0..text.count).max_by_key(|&at| (live(at).count(), std::cmp::Reverse(at)));
    let most = worst.map_or(0, |at| live(at).count());
    if let Some(at) = worst
        && most > count
    {
        return Err(too_few(kernel, &live(at).collect::<Vec<_>>(), count));
    }
    let placed = placed(machine, &webs, count, false);
    let placed = placed.or_else(|_| self::placed(machine, &webs, count, true));
    let registers = placed.map_err(|web| forbidden(kernel, machine, web))?;
    Ok(Chosen { registers, most })
}

/// Registers by instruction and operand.
type Places = BTreeMap<(usize, usize), usize>;

/// Gives each value the register that rests longest; `first` says that a value that may be in
/// any takes one that another value must not have, where there is one.
///
/// # Errors
/// The value for which errata leave none.
fn placed<'w>(
    machine: &Machine,
    webs: &'w [Web],
    count: usize,
    first: bool,
) -> Result<Places, &'w Web> {
    let hard = |r: usize| webs.iter().any(|w| !w.may(machine, r));
    let mut places = Places::new();
    // The register, and since when it rests.
    let mut free: Vec<(usize, Option<usize>)> = (0..count).map(|r| (r, None)).collect();
    let mut busy: Vec<(usize, usize)> = Vec::new();
    for web in webs {
        let (over, still): (Vec<_>, Vec<_>) = busy.into_iter().partition(|b| b.0 < web.from);
        free.extend(over.into_iter().map(|(to, register)| (register, Some(to))));
        busy = still;
        free.sort_by_key(|f| (first && !hard(f.0), f.1, f.0));
        let at = free.iter().position(|f| web.may(machine, f.0)).ok_or(web)?;
        let (register, _) = free.remove(at);
        busy.push((web.to, register));
        places.extend(web.mentions.iter().map(|m| (*m, register)));
    }
    Ok(places)
}

/// Errata leave no register for a value.
fn forbidden(kernel: &Kernel, machine: &Machine, web: &Web) -> MappingError {
    let of = |e: &&Erratum| e.active && web.uses.contains(&(e.instruction, e.operand));
    let errata: Vec<String> = machine
        .errata
        .iter()
        .filter(of)
        .map(|e| {
            format!(
                "the erratum `{}` forbids {}",
                e.name,
                machine.erratum_text(e)
            )
        })
        .collect();
    let message = format!(
        "there is no tile register left for {}: {}",
        tile_name(kernel, web.tile),
        errata.join(", ")
    );
    let hint = "let fewer tiles be there at once, or switch the erratum off where the hardware does \
                not have it";
    MappingError::new(web.span, message, hint)
}

fn tile_name(kernel: &Kernel, tile: Tile) -> String {
    let name = &kernel.arrays[tile.0].name;
    match tile.1 {
        0 => format!("`{name}`"),
        n => format!("`{name}` (tile {n})"),
    }
}

/// The values of one tile.
fn webs_of(
    kernel: &Kernel,
    tile: Tile,
    mentions: &[Mention],
    ends: &[usize],
) -> Result<Vec<Web>, MappingError> {
    let name = tile_name(kernel, tile);
    if !mentions[0].defines {
        let message = format!("{name} is used before it holds something");
        let hint = "load it by `stage_mem`, or set it to zeros first";
        return Err(MappingError::new(mentions[0].span, message, hint));
    }
    let mut groups: Vec<Vec<&Mention>> = Vec::new();
    for mention in mentions {
        match groups.last_mut() {
            Some(group) if !mention.defines => group.push(mention),
            _ => groups.push(vec![mention]),
        }
    }
    let separate = groups.iter().all(|group| {
        group.iter().all(|m| {
            let Some(beyond) = m.path.strip_prefix(group[0].path.as_slice()) else {
                return false;
            };
            // Another value from the same loop would come round to this use.
            let again = |inner: &usize| {
                mentions
                    .iter()
                    .any(|d| d.defines && d.at != group[0].at && d.path.contains(inner))
            };
            !beyond.first().is_some_and(again)
        })
    });
    if !separate {
        groups = vec![mentions.iter().collect()];
    }
    let web = |group: &Vec<&Mention>| {
        let first = group[0];
        let common = |m: &Mention| {
            let shared = m.path.iter().zip(&first.path).take_while(|(a, b)| a == b);
            shared.count()
        };
        // When it is one value, it lives as long as the loop that all its mentions share.
        let least = group.iter().map(|m| common(m)).min().unwrap_or(0);
        let base = if separate { first.path.len() } else { least };
        let end = |m: &&Mention| m.path.get(base).map_or(m.at, |&l| ends[l]);
        Web {
            tile,
            from: first.at,
            to: group.iter().map(end).max().unwrap_or(first.at),
            mentions: group.iter().map(|m| (m.at, m.operand)).collect(),
            uses: group.iter().map(|m| (m.instruction, m.operand)).collect(),
            span: first.span,
        }
    };
    Ok(groups.iter().map(web).collect())
}

fn too_few(kernel: &Kernel, live: &[&Web], count: usize) -> MappingError {
    let mut by_array: BTreeMap<String, usize> = BTreeMap::new();
    for web in live {
        // Parts of one array that `unroll_buffer` made are told together.
        let name = &kernel.arrays[web.tile.0].name;
        let family = name.rsplit_once('_').filter(|p| p.1.parse::<u32>().is_ok());
        let family = family.map_or(name.as_str(), |p| p.0);
        *by_array.entry(family.to_owned()).or_default() += 1;
    }
    let listed: Vec<String> = by_array
        .iter()
        .map(|(n, k)| format!("{k} for `{n}`"))
        .collect();
    let (largest, most) = by_array
        .iter()
        .max_by_key(|(_, k)| **k)
        .map_or(("", 0), |(n, k)| (n.as_str(), *k));
    let missing = live.len() - count;
    let message = format!(
        "there are too few tile registers: {} are needed at once ({}), there are {count}, {missing} \
         missing",
        live.len(),
        listed.join(", ")
    );
    let hint = format!(
        "let at most {} tiles of `{largest}` be there at once: a smaller number in the `split` or \
         `tile` whose loop is unrolled over them, or `stage_mem` over a loop further inside",
        most.saturating_sub(missing)
    );
    MappingError::new(
        live.last().map_or_else(Span::default, |w| w.span),
        message,
        hint,
    )
}
