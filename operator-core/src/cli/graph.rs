//! `graph`: the workflows as they are declared. Pure: no cluster, no clock, equal output for equal input.

use super::{ExitStatus, GraphArgs, GraphForm, output::Output};
use crate::{controller::Controller, resource::did_you_mean};

pub(super) fn graph(controllers: &[Controller], args: &GraphArgs, output: Output) -> ExitStatus {
    let Some(node) = &args.removes else {
        controllers.iter().for_each(|controller| output.out(&drawn(controller, args.format)));
        return ExitStatus::Success;
    };
    let outlines =
        || controllers.iter().flat_map(|one| one.outlines().iter().map(|outline| (one.name(), outline)));
    let told = outlines().filter_map(|(name, outline)| Some(format!("{name}: {}", outline.removes(node)?)));
    let told: String = told.collect();
    if told.is_empty() {
        let nearest = outlines().find_map(|(_, outline)| outline.nearest(node));
        let hint = did_you_mean(nearest.as_deref());
        output.note(&format!("no workflow has a node `{node}`{hint}"));
        return ExitStatus::Usage;
    }
    output.out(&told);
    ExitStatus::Success
}

fn drawn(controller: &Controller, form: GraphForm) -> String {
    let (name, kind) = (controller.name(), controller.resource_type().kind());
    let outlines = controller.outlines();
    match form {
        GraphForm::Text if outlines.is_empty() => format!("{name} ({kind}): no workflow\n"),
        GraphForm::Text => {
            let lines = outlines.iter().flat_map(|outline| {
                outline.to_string().lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>()
            });
            format!("{name} ({kind})\n{}", lines.collect::<String>())
        }
        // A comment of Mermaid's tells the pictures of several controllers apart.
        GraphForm::Mermaid => {
            outlines.iter().map(|outline| format!("%% {name} ({kind})\n{}", outline.mermaid())).collect()
        }
    }
}
