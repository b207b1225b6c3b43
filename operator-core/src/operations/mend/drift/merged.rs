//! The order in which a server-side apply merges two lists with keys.

use super::items::Key;

/// An item of the merged list, with its former positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) desired: Option<usize>,
    pub(super) live: Option<usize>,
}

/// The merged list, as structured-merge-diff makes it: items of both lists are in the order of what is applied, and
/// each item that only the live list has comes as early as it can.
pub(super) fn merged(live: &[Key], desired: &[Key]) -> Vec<Merged> {
    let position = |keys: &[Key], key: &Key| keys.iter().position(|other| other == key);
    let live_in_desired: Vec<_> = live.iter().map(|key| position(desired, key)).collect();
    let desired_in_live: Vec<_> = desired.iter().map(|key| position(live, key)).collect();
    let mut shared = (0..desired.len()).filter(|at| desired_in_live[*at].is_some()).peekable();
    let mut is_merged = vec![false; desired.len()];
    let mut all = Vec::with_capacity(live.len() + desired.len());
    let (mut at_live, mut at_desired) = (0, 0);
    while at_live < live.len() || at_desired < desired.len() {
        if let Some(same) = live_in_desired.get(at_live).copied() {
            match same {
                Some(same) if same == at_desired => {
                    all.push(Merged { desired: Some(same), live: Some(at_live) });
                    is_merged[same] = true;
                    shared.next();
                    at_live += 1;
                    at_desired += 1;
                    continue;
                }
                // It is in both, and its turn is another one.
                Some(same)
                    if at_desired < desired.len() && shared.peek().is_some_and(|next| *next != same) =>
                {
                    at_live += 1;
                    continue;
                }
                Some(same) if is_merged[same] => at_live += 1,
                Some(_) => {}
                None => {
                    all.push(Merged { desired: None, live: Some(at_live) });
                    at_live += 1;
                    continue;
                }
            }
        }
        if at_desired < desired.len() {
            all.push(Merged { desired: Some(at_desired), live: desired_in_live[at_desired] });
            is_merged[at_desired] = true;
            if shared.peek() == Some(&at_desired) {
                shared.next();
            }
            at_desired += 1;
        }
    }
    all
}
