//! TLS of the socket: one certificate authority for each server, in memory.

use std::sync::Arc;

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        DigitallySignedStruct, DistinguishedName, Error as TlsError, ServerConfig, SignatureScheme,
        client::danger::HandshakeSignatureValid,
        crypto::{
            CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
        },
        pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
        server::danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use crate::{
    certs::{Authority, Identity},
    error::Error,
};

/// What a socket offers by ALPN, the preferred first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The server's side of TLS, for names of this machine.
pub(super) fn acceptor(authority: &Authority) -> Result<TlsAcceptor, Error> {
    let identity = authority.server()?;
    let provider = Arc::new(ring::default_provider());
    let verifier = AnyCertificate { algorithms: provider.signature_verification_algorithms };
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).map_err(unreadable)?;
    let mut config = ServerConfig::builder_with_provider(provider as Arc<CryptoProvider>)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(vec![certificate(&identity)?], key)
        .map_err(unusable)?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The certificate of an identity, as it is sent.
pub(super) fn certificate(identity: &Identity) -> Result<CertificateDer<'static>, Error> {
    CertificateDer::from_pem_slice(identity.certificate.as_bytes()).map_err(unreadable)
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::io("read a certificate that was just made")(std::io::Error::other(error))
}

fn unusable(error: TlsError) -> Error {
    Error::io("set up TLS")(std::io::Error::other(error))
}

/// Takes any certificate of a client, as the real server does: whoever can't be told from it gets 401, and no failed
/// handshake. That the client has the certificate's key is checked here.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
