//! A handle whose source is started again before the task of the former start has ended.

use std::sync::Arc;

use parking_lot::Mutex;

use super::world::{Thing, key};
use crate::{
    event_source::external::{
        InboundHandle,
        cache::{ExternalCache, Set},
        inbound_handle::Inbox,
    },
    resource::ObjectKey,
};

/// Notes for whom something was pushed.
#[derive(Default)]
struct Noted(Mutex<Vec<ObjectKey>>);

impl Inbox<Thing, u8> for Arc<Noted> {
    fn adopt(&self, _: ExternalCache<Thing, u8>) {}

    fn put(&self, primary: &ObjectKey, _: Set<Thing, u8>) {
        self.0.lock().push(primary.clone());
    }

    fn delete(&self, primary: &ObjectKey, _: &u8) {
        self.0.lock().push(primary.clone());
    }
}

#[test]
fn the_late_end_of_a_former_start_does_not_cut_off_the_present_one() {
    let handle = InboundHandle::new(Arc::new(|thing: &Thing| thing.0));
    let noted = [Arc::new(Noted::default()), Arc::new(Noted::default())];
    let [former, present] = noted.each_ref().map(|noted| {
        let inbox: Arc<dyn Inbox<_, _>> = Arc::new(Arc::clone(noted));
        handle.connect(&inbox);
        inbox
    });
    drop(former);
    handle.put(&key("a"), vec![Thing(1, 1)]);
    handle.delete(&key("b"), &1);
    let pushed = noted.each_ref().map(|noted| noted.0.lock().clone());
    assert_eq!(pushed, [vec![], vec![key("a"), key("b")]], "what each start was told");
    drop(present);
    handle.put(&key("c"), vec![Thing(1, 1)]);
    assert_eq!(noted[1].0.lock().len(), 2, "nobody is told when it has ended");
}
