//! How readiness ends: whether Pods are ready when a schedule is judged.

use super::{Choices, Kind, drawn};

/// Whether Pods are ready in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::testing::simulation) enum Readiness {
    /// They are, whatever has happened before.
    #[default]
    Comes,
    /// None ever was, since the storm began.
    NeverComes,
    /// They were when everything was done, and then no longer.
    GoesForGood,
}

impl Readiness {
    /// How it ends in a schedule with these choices, of which nothing is taken yet.
    pub(in crate::testing::simulation) fn wanted(choices: &Choices) -> Self {
        let kind = drawn(choices).filter(|(kind, _)| is_for_good(*kind, choices));
        kind.map_or(Self::Comes, |(kind, _)| Self::after(kind))
    }

    /// How it ends if bad luck of this kind doesn't end.
    pub(super) const fn after(kind: Kind) -> Self {
        match kind {
            Kind::Never => Self::NeverComes,
            Kind::Goes => Self::GoesForGood,
            Kind::Late | Kind::Crash | Kind::Slow => Self::Comes,
        }
    }

    /// In words, as what happens in a calm run.
    pub(in crate::testing::simulation) const fn words(self) -> &'static str {
        match self {
            Self::Comes => "nothing goes wrong",
            Self::NeverComes => "no Pod ever gets ready",
            Self::GoesForGood => "in the end no Pod is ready any more",
        }
    }
}

/// Whether bad luck of this kind doesn't end.
pub(super) fn is_for_good(kind: Kind, choices: &Choices) -> bool {
    Readiness::after(kind) != Readiness::Comes && choices.next("cluster for good", 2) == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::simulation::Tape;

    #[test]
    fn seeds_draw_all_endings_and_a_tape_draws_the_same() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..700 {
            let choices = Choices::seeded(seed);
            let wanted = Readiness::wanted(&choices);
            assert_eq!(Readiness::wanted(&Choices::replayed(choices.tape())), wanted);
            *seen.entry(wanted).or_insert(0) += 1;
        }
        assert!((30..80).contains(&seen[&Readiness::NeverComes]), "{seen:?}");
        assert!((30..80).contains(&seen[&Readiness::GoesForGood]), "{seen:?}");
        assert_eq!(Readiness::wanted(&Choices::replayed(Tape::calm())), Readiness::Comes);
    }
}
