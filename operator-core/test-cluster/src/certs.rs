//! The certificate authority of a control plane, and what it signs.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};

use crate::{error::Error, files::write};

/// The first address of the range for Services: the API server's own Service has it.
const SERVICE_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

/// A certificate authority, created when needed and kept in memory.
///
/// rcgen's certificates are valid from 1975 to 4096, so a wrong clock never causes a test to fail.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, both PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "control-plane-ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// The CA's certificate, PEM.
    pub(crate) fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// For the API server, with the names and addresses by which it is reached.
    pub(crate) fn server(&self) -> Result<Identity, Error> {
        let names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
        let mut params = CertificateParams::new(names.map(str::to_owned))?;
        for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), SERVICE_ADDRESS] {
            params.subject_alt_names.push(SanType::IpAddress(address));
        }
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// For a user: Kubernetes takes the name from the common name and the groups from the organizations.
    pub(crate) fn user(&self, name: &str, groups: &[&str]) -> Result<Identity, Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        for group in groups {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Identity, Error> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// Writes the files that the API server and the controllers read: the CA, the server's identity, and the key pair that
/// signs the tokens of service accounts.
pub(crate) fn write_files(authority: &Authority, folder: &Path) -> Result<(), Error> {
    let server = authority.server()?;
    let tokens = KeyPair::generate()?;
    write(&folder.join("ca.crt"), &authority.certificate())?;
    write(&folder.join("server.crt"), &server.certificate)?;
    write(&folder.join("server.key"), &server.key)?;
    write(&folder.join("tokens.key"), &tokens.serialize_pem())?;
    write(&folder.join("tokens.pub"), &tokens.public_key_pem())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_pem_and_no_two_keys_are_the_same() {
        let authority = Authority::new().unwrap();
        let server = authority.server().unwrap();
        let user = authority.user("admin", &["system:masters"]).unwrap();
        assert!(authority.certificate().starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(server.key.starts_with("-----BEGIN PRIVATE KEY-----"));
        assert_ne!(server.key, user.key);
        assert_ne!(server.certificate, user.certificate);
    }

    #[test]
    fn the_folder_gets_what_the_flags_name() {
        let folder = tempfile::tempdir().unwrap();
        write_files(&Authority::new().unwrap(), folder.path()).unwrap();
        for name in ["ca.crt", "server.crt", "server.key", "tokens.key", "tokens.pub"] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }
}
