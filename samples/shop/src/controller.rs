//! The controller: three steps around the components, and the status.

use std::{sync::Arc, time::Duration};

use operator_component::Components;
use operator_core::{Permanent, Waiting, Workflow, prelude::*};

use crate::{
    components::{address, front, metrics, schema, storage},
    outside::Office,
    types::{Shop, ShopStatus},
};

/// Shops, with what is outside the cluster.
struct Shops {
    office: Arc<dyn Office>,
}

// ANCHOR: steps
impl Shops {
    /// A step that waits, or can't go on: without a licence nothing is made, and with too many pods nothing is changed.
    async fn licence(&self, shop: &Shop, cx: &Context<Shop>) -> Result<()> {
        let licence = self.office.licence(&cx.primary_key().to_string()).await?;
        let minute = Duration::from_secs(60);
        let waits = || Waiting::again_in(minute, "NoLicence", "the office has no licence for it yet");
        let pods = licence.ok_or_else(waits)?;
        if shop.spec.replicas > pods {
            let error =
                format!("the licence is for {pods} pods, and spec.replicas is {}", shop.spec.replicas);
            return Err(Permanent::new(error).because("OverQuota").into());
        }
        Ok(())
    }

    /// A step that may fail.
    async fn announce(&self, shop: &Shop, cx: &Context<Shop>) {
        let told = self.office.announce(&cx.primary_key().to_string(), &shop.spec.version).await;
        cx.abnormal("AnnouncementFailed", told.err().map(|error| ("NotSent", error.to_string())));
    }
}

impl Reconciler for Shops {
    type Primary = Shop;

    async fn reconcile(&self, shop: &Shop, cx: &mut Context<Shop>) -> Result<UpdateControl<Shop>> {
        self.licence(shop, cx).await?;
        cx.run().await?;
        self.announce(shop, cx).await;
        Ok(UpdateControl::no_update())
    }
}
// ANCHOR_END: steps

// ANCHOR: status
fn status(shop: &Shop, run: &Run<Shop>) -> ShopStatus {
    let ip = run.get(address).and_then(|service| service.spec.as_ref()?.cluster_ip.clone());
    ShopStatus { components: Components::of(shop, run), address: ip.map(|ip| format!("http://{ip}")) }
}
// ANCHOR_END: status

/// The controller.
pub fn controller(office: Arc<dyn Office>) -> ControllerBuilder<impl Reconciler<Primary = Shop>> {
    let components = (storage(), schema(), front(), metrics());
    let workflow = Workflow::builder().nodes(components).explicit_invocation();
    Controller::of::<Shop>()
        .reconciler(Shops { office })
        .name("shop-operator")
        .workflow(workflow)
        .status(status)
}

/// The operator.
pub fn operator(office: Arc<dyn Office>) -> OperatorBuilder {
    Operator::builder().register(controller(office))
}
