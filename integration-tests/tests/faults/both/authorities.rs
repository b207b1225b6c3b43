//! Certificate authorities that are replaced while the operator runs.

use std::{io, net::Ipv4Addr};

use integration_tests::prelude::*;
use kube::{Config, client::ConfigExt, config::KubeConfigOptions};
use operator_core::client::from_kubeconfig;
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor, TlsConnector,
    rustls::{
        self, ServerConfig,
        pki_types::{PrivateKeyDer, ServerName},
    },
};

use super::{keeper, keeping, kept};

/// How long a bundle may be out of date: when a connection is made after this time, the file is read again.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(60);

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// The server side of TLS with a certificate of this authority.
    fn acceptor(&self) -> Result<TlsAcceptor> {
        let mut server = CertificateParams::default();
        server.subject_alt_names.push(SanType::IpAddress(Ipv4Addr::LOCALHOST.into()));
        let key = KeyPair::generate()?;
        let certificate = server.signed_by(&key, &self.0)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// A proxy in front of the API server with a certificate of its own, which acts as a cluster administrator.
struct Front {
    url: String,
    acceptor: Arc<Mutex<TlsAcceptor>>,
    connections: watch::Sender<()>,
    listening: JoinHandle<()>,
}

impl Front {
    async fn start(server: &Config, authority: &Authority) -> Result<Self> {
        let connector = TlsConnector::from(Arc::new(server.rustls_client_config()?));
        let host = server.cluster_url.host().context("a host")?.to_owned();
        let port = server.cluster_url.port_u16().unwrap_or(443);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("https://{}", listener.local_addr()?);
        let acceptor = Arc::new(Mutex::new(authority.acceptor()?));
        let (connections, ends) = watch::channel(());
        let current = Arc::clone(&acceptor);
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, connector, host) = (current.lock().clone(), connector.clone(), host.clone());
                let mut ends = ends.clone();
                ends.mark_unchanged();
                tokio::spawn(async move {
                    let carried = carry(stream, acceptor, connector, (host, port));
                    tokio::select! {
                        // A connection that breaks is what this is about.
                        _ = carried => {}
                        _ = ends.changed() => {}
                    }
                });
            }
        });
        Ok(Self { url, acceptor, connections, listening })
    }

    /// From now on it has a certificate of this authority; the connections that are open end.
    fn now_of(&self, authority: &Authority) -> Result<()> {
        *self.acceptor.lock() = authority.acceptor()?;
        self.connections.send_replace(());
        Ok(())
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn carry(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    connector: TlsConnector,
    (host, port): (String, u16),
) -> io::Result<()> {
    let mut client = acceptor.accept(stream).await?;
    let server = TcpStream::connect((host.as_str(), port)).await?;
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    let mut server = connector.connect(name, server).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn f28_certificate_authorities_that_are_replaced_are_read_again_from_their_file() -> Result<()> {
    let scene = Scene::new("f28-ca").await?;
    let (old, new) = (Authority::new()?, Authority::new()?);
    let front = Front::start(&scene.cluster.control_plane()?.config(), &old).await?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), old.0.pem())?;
    let kubeconfig = serde_json::from_value(json!({
        "current-context": "front",
        "contexts": [{ "name": "front", "context": { "cluster": "front", "user": "nobody" } }],
        "clusters": [{
            "name": "front", "cluster": { "server": front.url, "certificate-authority": file.path() },
        }],
    }))?;
    let config = from_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let probe = Api::<ConfigMap>::namespaced(Client::try_from(config.clone())?, &scene.namespace);
    let script = keeping();
    let operator =
        TestOperator::start(scene.operator().config(config).register(keeper(&scene, &script)?)).await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;
    probe.list(&ListParams::default()).await?;

    std::fs::write(file.path(), new.0.pem())?;
    front.now_of(&new)?;
    let begin = Instant::now();
    assert!(probe.list(&ListParams::default()).await.is_err(), "nobody knows the new authority yet");
    scene.set("one", "last").await?;
    // Longer than anything else in these tests is waited for.
    let trusts = async {
        let answered = async || Ok(probe.list(&ListParams::default()).await.ok().map(drop));
        while eventually("the new authority to be trusted", answered).await.is_err() {}
    };
    timeout(READ_AGAIN_AFTER + Duration::from_secs(5), trusts)
        .await
        .context("the file was not read again")?;
    // Not before the next attempt of a watch, whose waits have grown meanwhile.
    let goes_on = async { while kept(&scene, "one", "last").await.is_err() {} };
    timeout(Duration::from_secs(120), goes_on).await.context("the operator doesn't go on")?;
    assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", begin.elapsed());
    operator.settled().await?;
    Ok(())
}
