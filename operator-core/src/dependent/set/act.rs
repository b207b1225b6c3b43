//! What is done about one object of a set. Pure.
//!
//! | the object | its policies | act |
//! |---|---|---|
//! | isn't there | it was purged for this content | nothing |
//! | isn't there | any | create |
//! | is going | any | wait for its end |
//! | is somebody else's | adoption `never`; nobody's: `if-unowned`, `always`; another's: `always`, once per content | refuse, or take over |
//! | is the node's, as wanted | any | nothing |
//! | is the node's, and differs | reconcile `once` | nothing |
//! | is the node's, and differs | update `recreate` | delete, and create when it is gone; mark it if that it was made by the node isn't sure |
//! | is the node's, and differs | any other | update |

use super::policies::{Policies, ReconcilePolicy, UpdatePolicy};
use crate::{resource::Whose, results::Adoption};

/// An object that exists under a wanted name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    pub(super) whose: Whose,
    pub(super) is_going: bool,
    /// Whether it isn't as wanted, or that isn't known: an update compares it itself. Of no matter for what isn't the node's.
    pub(super) differs: bool,
    /// Whether it was taken over before for the same content, and taken back.
    pub(super) was_taken_back: bool,
}

impl Live {
    /// Whether it carries marks of the primary as it is, or as it was.
    pub(super) fn is_own(&self) -> bool {
        !matches!(self.whose, Whose::Going | Whose::Nobodys | Whose::Foreign)
    }
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Create,
    /// It is made the node's, and as wanted.
    TakeOver,
    Update(UpdatePolicy),
    Nothing,
    /// Nothing until it is gone.
    Wait,
    Refuse,
}

/// What is done about a wanted object. `is_over`: it was there for this content, and needn't be there again.
pub(super) fn act(live: Option<Live>, policies: &Policies, is_over: bool) -> Act {
    let Some(live) = live else {
        return if is_over { Act::Nothing } else { Act::Create };
    };
    match live.whose {
        Whose::Going => Act::Wait,
        Whose::Nobodys if policies.adoption == Adoption::Never => Act::Refuse,
        Whose::Foreign if policies.adoption != Adoption::Always || live.was_taken_back => Act::Refuse,
        _ if live.is_going => Act::Wait,
        Whose::Nobodys | Whose::Foreign => Act::TakeOver,
        Whose::Orphan | Whose::OfFormerNode => Act::TakeOver,
        Whose::Mine { .. } if !live.differs || policies.reconcile == ReconcilePolicy::Once => Act::Nothing,
        // Without a valid mark it may be a copy, which is never deleted.
        Whose::Mine { removable: false } if policies.update == UpdatePolicy::Recreate => Act::TakeOver,
        Whose::Mine { .. } => Act::Update(policies.update),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINE: Whose = Whose::Mine { removable: true };
    const UNMARKED: Whose = Whose::Mine { removable: false };
    const UPDATES: [UpdatePolicy; 4] =
        [UpdatePolicy::SsaMerge, UpdatePolicy::SsaOverride, UpdatePolicy::Replace, UpdatePolicy::Recreate];
    const ADOPTIONS: [Adoption; 3] = [Adoption::Never, Adoption::IfUnowned, Adoption::Always];

    fn live(whose: Whose) -> Live {
        Live { whose, is_going: false, differs: true, was_taken_back: false }
    }

    fn adopting(adoption: Adoption) -> Policies {
        Policies { adoption, ..Policies::default() }
    }

    fn updating(update: UpdatePolicy) -> Policies {
        Policies { update, ..Policies::default() }
    }

    fn once() -> Policies {
        Policies { reconcile: ReconcilePolicy::Once, ..Policies::default() }
    }

    #[test]
    fn what_is_not_there_is_created_unless_it_was_there_long_enough() {
        for policies in [Policies::default(), once(), updating(UpdatePolicy::Recreate)] {
            assert_eq!(act(None, &policies, false), Act::Create);
            assert_eq!(act(None, &policies, true), Act::Nothing);
        }
    }

    #[test]
    fn the_end_of_what_is_going_is_awaited() {
        for update in UPDATES {
            assert_eq!(act(Some(live(Whose::Going)), &updating(update), false), Act::Wait);
            for whose in [MINE, UNMARKED, Whose::Orphan, Whose::OfFormerNode] {
                let going = Live { is_going: true, ..live(whose) };
                assert_eq!(act(Some(going), &updating(update), false), Act::Wait, "{whose:?}");
            }
        }
        let foreign = Live { is_going: true, ..live(Whose::Foreign) };
        assert_eq!(act(Some(foreign), &adopting(Adoption::Always), false), Act::Wait);
        assert_eq!(
            act(Some(foreign), &adopting(Adoption::IfUnowned), false),
            Act::Refuse,
            "named as in the way"
        );
    }

    #[test]
    fn the_policy_says_what_is_taken_over() {
        use Act::{Refuse, TakeOver};
        let table = [
            (Whose::Nobodys, [Refuse, TakeOver, TakeOver]),
            (Whose::Foreign, [Refuse, Refuse, TakeOver]),
            (Whose::Orphan, [TakeOver; 3]),
            (Whose::OfFormerNode, [TakeOver; 3]),
        ];
        for (whose, expected) in table {
            let found = ADOPTIONS.map(|adoption| act(Some(live(whose)), &adopting(adoption), false));
            assert_eq!(found, expected, "{whose:?}");
        }
        let back = Live { was_taken_back: true, ..live(Whose::Foreign) };
        assert_eq!(act(Some(back), &adopting(Adoption::Always), false), Refuse, "two owners don't fight");
    }

    #[test]
    fn what_is_the_nodes_is_written_where_it_differs_as_its_policies_say() {
        for update in UPDATES {
            let same = Live { differs: false, ..live(MINE) };
            assert_eq!(act(Some(same), &updating(update), false), Act::Nothing);
            assert_eq!(act(Some(live(MINE)), &updating(update), false), Act::Update(update));
            assert_eq!(act(Some(live(MINE)), &Policies { update, ..once() }, false), Act::Nothing);
        }
        let component =
            Policies { reconcile: ReconcilePolicy::OnObjectOrComponentChange, ..Policies::default() };
        assert_eq!(act(Some(live(MINE)), &component, false), Act::Update(UpdatePolicy::SsaMerge));
    }

    #[test]
    fn an_object_that_may_be_a_copy_is_marked_instead_of_deleted() {
        let found = UPDATES.map(|update| act(Some(live(UNMARKED)), &updating(update), false));
        let [merge, over, replace, _] = UPDATES.map(Act::Update);
        assert_eq!(found, [merge, over, replace, Act::TakeOver]);
        let same = Live { differs: false, ..live(UNMARKED) };
        assert_eq!(act(Some(same), &updating(UpdatePolicy::Recreate), false), Act::Nothing);
    }

    fn any_live() -> impl Strategy<Value = Live> {
        let all = [
            MINE,
            UNMARKED,
            Whose::Orphan,
            Whose::Going,
            Whose::OfFormerNode,
            Whose::Nobodys,
            Whose::Foreign,
        ];
        (prop::sample::select(all.to_vec()), any::<[bool; 3]>()).prop_map(
            |(whose, [is_going, differs, was_taken_back])| Live { whose, is_going, differs, was_taken_back },
        )
    }

    fn any_policies() -> impl Strategy<Value = Policies> {
        let reconciles = [
            ReconcilePolicy::OnObjectChange,
            ReconcilePolicy::OnObjectOrComponentChange,
            ReconcilePolicy::Once,
        ];
        let all = (
            prop::sample::select(ADOPTIONS.to_vec()),
            prop::sample::select(reconciles.to_vec()),
            prop::sample::select(UPDATES.to_vec()),
        );
        all.prop_map(|(adoption, reconcile, update)| Policies {
            adoption,
            reconcile,
            update,
            ..Policies::default()
        })
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// Not the table once more: what must never happen, whatever row comes first.
        #[test]
        fn nothing_that_is_anothers_is_touched(
            live in prop::option::weighted(0.95, any_live()),
            policies in any_policies(),
            is_over in any::<bool>(),
        ) {
            let act = act(live, &policies, is_over);
            let writes = matches!(act, Act::Create | Act::TakeOver | Act::Update(_));
            let Some(live) = live else {
                prop_assert_eq!(writes, !is_over);
                return Ok(());
            };
            prop_assert_ne!(act, Act::Create, "it is there");
            match live.whose {
                Whose::Foreign => prop_assert!(
                    !writes || (policies.adoption == Adoption::Always && !live.was_taken_back)
                ),
                Whose::Nobodys => prop_assert!(!writes || policies.adoption != Adoption::Never),
                Whose::Going => prop_assert!(!writes),
                Whose::Mine { .. } | Whose::Orphan | Whose::OfFormerNode => prop_assert_ne!(act, Act::Refuse),
            }
            prop_assert!(!(live.is_going && writes), "it is going");
            if let Act::Update(update) = act {
                prop_assert!(live.differs && (live.whose == MINE || live.whose == UNMARKED));
                prop_assert_ne!(policies.reconcile, ReconcilePolicy::Once);
                prop_assert_eq!(update, policies.update);
                let is_deleted = update == UpdatePolicy::Recreate;
                prop_assert!(!is_deleted || live.whose == MINE, "only what the node has made is deleted");
            }
        }
    }
}
