//! Runs a lowered kernel: its loops, with each window computed by its term.
//!
//! In: a [`Lowered`] kernel and [`Data`]. Out: the data afterwards. Windows are evaluated by
//! [`semantics::eval`], the interpreter of instruction meaning; everything around them is
//! done here. What comes out must be what [`kernel::eval`] says of the algorithm: that is
//! how lowering and schedules are checked. Lanes that are not active are loaded as noise.

use crate::window::{Lowered, LoweredNode, Source, Store, Window};
use kernel::ast::Direction;
use kernel::eval::Data;
use kernel::index::{Index, Symbol};
use kernel::tree::{Access, ActiveLanes, Param, Role};
use kernel::types::{Elem, Type};
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::sort::Sort;
use semantics::value::Value;

/// What an inactive lane holds.
const NOISE: i128 = 0x5aa5_5aa5_5aa5_5aa5;

/// Runs a lowered kernel.
///
/// # Errors
/// A sentence: an access outside an array by an active lane, or data that do not fit.
pub fn run(lowered: &Lowered, data: &Data) -> Result<Data, String> {
    run_counting(lowered, data).map(|(data, _)| data)
}

/// Runs a lowered kernel; also how often each window was executed.
///
/// # Errors
/// As [`run`].
pub fn run_counting(lowered: &Lowered, data: &Data) -> Result<(Data, Vec<u64>), String> {
    let kernel = &lowered.kernel;
    let mut machine = Replayer {
        lowered,
        programs: lowered.windows.iter().map(compile).collect(),
        counts: vec![0; lowered.windows.len()],
        symbols: vec![0; kernel.symbols.len()],
        scalars: Vec::new(),
        arrays: Vec::new(),
        dims: Vec::new(),
        last: Vec::new(),
        registers: kernel
            .registers
            .iter()
            .map(|r| vec![0; r.ty.lanes as usize])
            .collect(),
    };
    let missing = |name: &str| format!("`{name}` is missing");
    for param in &kernel.params {
        if let Param::Size(symbol) = *param {
            let name = kernel.symbol_name(symbol);
            machine.symbols[symbol.0 as usize] =
                *data.sizes.get(&name).ok_or_else(|| missing(&name))?;
        }
    }
    for scalar in &kernel.scalars {
        machine.scalars.push(
            *data
                .scalars
                .get(&scalar.name)
                .ok_or_else(|| missing(&scalar.name))?,
        );
    }
    for array in &kernel.arrays {
        let dims = array
            .memory_dims()
            .iter()
            .map(|d| machine.index(d))
            .collect::<Result<Vec<i64>, _>>()?;
        let last = array.dims.last().map_or(Ok(0), |d| machine.index(d))?;
        let len =
            usize::try_from(dims.iter().product::<i64>()).map_err(|_| missing(&array.name))?;
        let values = match array.role {
            Role::Local => vec![array.elem.wrap(NOISE); len],
            Role::Param(_) => data
                .arrays
                .get(&array.name)
                .cloned()
                .ok_or_else(|| missing(&array.name))?,
        };
        machine.arrays.push(values);
        machine.dims.push(dims);
        machine.last.push(last);
    }
    machine.nodes(&lowered.body)?;
    let mut after = data.clone();
    let (counts, symbols) = (machine.counts, machine.symbols);
    for (array, mut values) in kernel.arrays.iter().zip(machine.arrays) {
        if let Role::Param(Direction::Out | Direction::InOut) = array.role {
            array.blank_padding(&|s: Symbol| symbols[s.0 as usize], &mut values);
            after.arrays.insert(array.name.clone(), values);
        }
    }
    Ok((after, counts))
}

fn compile(window: &Window) -> CompiledTerms {
    let sort = |ty: Type| Sort::Bv(ty.width());
    let inputs: Vec<Input> = window
        .inputs
        .iter()
        .map(|i| Input {
            name: i.name.clone(),
            sort: sort(i.ty),
        })
        .collect();
    CompiledTerms::compile(&[window.term], &inputs).expect("a window's term is over its inputs")
}

struct Replayer<'l> {
    lowered: &'l Lowered,
    programs: Vec<CompiledTerms>,
    counts: Vec<u64>,
    symbols: Vec<i64>,
    scalars: Vec<i128>,
    arrays: Vec<Vec<i128>>,
    /// Dimensions as they lie in memory.
    dims: Vec<Vec<i64>>,
    /// The last dimension without what it is padded by.
    last: Vec<i64>,
    registers: Vec<Vec<i128>>,
}

impl Replayer<'_> {
    fn index(&self, index: &Index) -> Result<i64, String> {
        index
            .eval(&|s: Symbol| self.symbols[s.0 as usize])
            .map_err(|_| "an index does not fit 64 bits".to_owned())
    }

    fn nodes(&mut self, nodes: &[LoweredNode]) -> Result<(), String> {
        for node in nodes {
            match node {
                LoweredNode::Loop(l) => {
                    let (mut x, hi) = (self.index(&l.lo)?, self.index(&l.hi)?);
                    if let Some(register) = l.at {
                        let chosen = self.registers[register].first();
                        let chosen = chosen.and_then(|&v| i64::try_from(v).ok());
                        if let Some(v) =
                            chosen.filter(|v| (x..hi).contains(v) && (v - x) % l.step == 0)
                        {
                            self.symbols[l.var.0 as usize] = v;
                            self.nodes(&l.body)?;
                        }
                        continue;
                    }
                    while x < hi {
                        self.symbols[l.var.0 as usize] = x;
                        self.nodes(&l.body)?;
                        x += l.step;
                    }
                }
                LoweredNode::Window { window, active } => {
                    let lanes = self.lowered.windows[*window].output.lanes as usize;
                    let active = match active {
                        Some(active) => {
                            usize::try_from(self.index(active)?).unwrap_or(0).min(lanes)
                        }
                        None => lanes,
                    };
                    self.window(*window, active)?;
                }
            }
        }
        Ok(())
    }

    fn window(&mut self, number: usize, active: usize) -> Result<(), String> {
        let window = &self.lowered.windows[number];
        let mut values = Vec::new();
        for input in &window.inputs {
            let lanes = self.load(
                &input.source,
                input.ty,
                active,
                window.output.lanes as usize,
            )?;
            values.push(Value::Bv(pack(&lanes, input.ty.elem)));
        }
        self.counts[number] += 1;
        let result = self.programs[number].run(&values);
        let lanes = unpack(result[0].bits(), window.output);
        match &window.store {
            Store::Register(id) => self.registers[*id] = lanes,
            Store::Array(access) => {
                for (lane, &value) in lanes.iter().enumerate().take(active) {
                    let place = self.place(access, lane)?;
                    self.arrays[access.array][place] = value;
                }
            }
        }
        Ok(())
    }

    fn load(
        &self,
        source: &Source,
        ty: Type,
        active: usize,
        out: usize,
    ) -> Result<Vec<i128>, String> {
        let values = match source {
            Source::Scalar(id) => vec![self.scalars[*id]],
            Source::Register(id) => self.registers[*id].clone(),
            Source::Index(index) => vec![ty.elem.wrap(i128::from(self.index(index)?))],
            Source::Array(access) => {
                // Active lanes of the output need as large a share of this register.
                let count = access.lanes as usize;
                let size = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
                let (active, of) = (size(active), size(out));
                let needed = match count {
                    1 => 1,
                    _ => ActiveLanes { active, of }.share(access.lanes) as usize,
                };
                let mut values = vec![ty.elem.wrap(NOISE); count];
                for (lane, value) in values.iter_mut().enumerate().take(needed) {
                    *value = self.arrays[access.array][self.place(access, lane)?];
                }
                values
            }
        };
        Ok((0..ty.lanes as usize)
            .map(|lane| values[lane % values.len()])
            .collect())
    }

    fn place(&self, access: &Access, lane: usize) -> Result<usize, String> {
        let mut place = 0;
        for (d, (index, &len)) in access
            .index
            .iter()
            .zip(&self.dims[access.array])
            .enumerate()
        {
            let mut i = self.index(index)?;
            if d == access.dim {
                i += access.stride * i64::try_from(lane).unwrap_or(i64::MAX);
                if access.clamped {
                    let last = d + 1 == access.index.len();
                    let len = if last { self.last[access.array] } else { len };
                    i = i.min(len - 1).max(0);
                }
            }
            // More lanes than a row has go on in the next; those of the last stay in the array.
            let runs_on = d + 1 == access.index.len()
                && access.is_dense()
                && i64::from(access.lanes) > len
                && place * len + i < self.dims[access.array].iter().product();
            if i < 0 || i >= len && !runs_on {
                let name = &self.lowered.kernel.arrays[access.array].name;
                return Err(format!(
                    "index {i} is outside dimension {d} of `{name}` ({len} elements)"
                ));
            }
            place = place * len + i;
        }
        usize::try_from(place).map_err(|_| "a negative place".to_owned())
    }
}

/// Lanes as one bit vector, lane 0 least significant.
fn pack(lanes: &[i128], elem: Elem) -> Bits {
    let bytes: Vec<u8> = lanes
        .iter()
        .flat_map(|v| v.to_le_bytes().into_iter().take(elem.bits() as usize / 8))
        .collect();
    Bits::from_bytes(
        elem.bits() * u32::try_from(lanes.len()).expect("lanes are counted in 32 bits"),
        &bytes,
    )
}

fn unpack(bits: &Bits, ty: Type) -> Vec<i128> {
    let lane = |chunk: &[u8]| {
        let low = chunk
            .iter()
            .rev()
            .fold(0i128, |n, &b| n << 8 | i128::from(b));
        ty.elem.wrap(low)
    };
    bits.to_bytes()
        .chunks(ty.elem.bits() as usize / 8)
        .map(lane)
        .collect()
}
