//! `isaforge schedule`: what each directive makes of a kernel.
//!
//! In: a file of kernels. Out: their loops after each directive as text, or a page with what
//! each one changed; directives that are refused are told with their reasons, and the others
//! are shown all the same. The crate `schedule` does the work.

mod difference;
mod page;

use crate::args::Schedule;
use crate::compile::{cannot_write, read};
use crate::status::Status;
use crate::{inspect, map, simulate, terminal};
use difference::{Kind, difference};
use schedule::ragged::{self, Uncut};
use semantics::diagnostic::Diagnostic;
use std::fmt::Write as _;
use store::local::write_whole;

/// What is shown of one kernel: a heading and its loops, the first as they were written.
pub(crate) struct Shown {
    name: String,
    steps: Vec<(String, String)>,
}

/// `isaforge schedule`.
pub(crate) fn command(request: &Schedule) -> Status {
    match run(request) {
        Ok(status) => status,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

fn run(request: &Schedule) -> Result<Status, Vec<Diagnostic>> {
    let source = read(&request.kernel).map_err(|d| vec![d])?;
    let (kernels, diagnostics) = kernel::read(&source);
    let mut wrong = terminal::complain(&diagnostics);
    wrong |= terminal::complain(&map::nobodys(&request.size, &kernels));
    let parameters = match &request.isa {
        None => Vec::new(),
        Some(isa) => {
            simulate::machine(isa, request.isa_specs.as_deref())?
                .0
                .parameters
        }
    };
    let mut shown = Vec::new();
    for kernel in &kernels {
        let kernel = &schedule::with_parameters(kernel, &parameters);
        let (mut stages, mut diagnostics) = schedule::stages(kernel);
        let mut first = vec![("as written".to_owned(), kernel::show::body(kernel))];
        if !request.size.is_empty() && !diagnostics.is_empty() {
            let sizes = map::sizes(kernel, &request.size).map_err(|d| vec![d])?;
            match ragged::cut(kernel, &sizes) {
                Ok(cut) => {
                    let heading = "at these sizes, what fills no tile behind the rest";
                    first.push((heading.to_owned(), kernel::show::body(&cut.kernel)));
                    (stages, diagnostics) = schedule::stages(&cut.kernel);
                }
                Err(Uncut::NoTile(why)) => {
                    diagnostics.insert(0, Diagnostic::error(why).at(&kernel.source, kernel.span));
                }
                Err(Uncut::Order) => {}
            }
        }
        wrong |= terminal::complain(&diagnostics);
        let others = stages.iter().map(|s| {
            let after = kernel::show::body(s.scheduled.kernel());
            (s.directive.to_string(), after)
        });
        shown.push(Shown {
            name: kernel.name.clone(),
            steps: first.into_iter().chain(others).collect(),
        });
    }
    if let Some(path) = &request.html {
        let page = page::page(source.name(), &shown);
        write_whole(path, page.as_bytes()).map_err(|e| vec![cannot_write(path, &e)])?;
        eprintln!("written: {}", path.display());
    }
    if request.show || request.html.is_none() {
        terminal::print(&text(&shown, request.show));
    }
    Ok(inspect::finish(wrong))
}

/// The loops as text: all of them with marks before changed lines, or the last ones.
fn text(shown: &[Shown], all: bool) -> String {
    let mut out = String::new();
    for kernel in shown {
        let _ = writeln!(out, "kernel {}", kernel.name);
        let mut before = "";
        let last = kernel.steps.len().saturating_sub(1);
        for (n, (heading, now)) in kernel.steps.iter().enumerate() {
            if all || n == last {
                let _ = writeln!(out, "\n-- {heading}");
                if n == 0 || !all {
                    out.push_str(now);
                } else {
                    for (kind, line) in difference(before, now) {
                        let mark = match kind {
                            Kind::Kept => ' ',
                            Kind::New => '+',
                            Kind::Gone => '-',
                        };
                        let _ = writeln!(out, "{mark} {line}");
                    }
                }
            }
            before = now;
        }
        out.push('\n');
    }
    out
}
