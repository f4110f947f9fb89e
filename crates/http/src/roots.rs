//! TLS with lazily read roots: reading them takes milliseconds that http URLs need not spend, and http URLs work even
//! if the platform has no roots. reqwest reads them when a client is created.

use crate::error::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, OnceLock};

/// A TLS configuration for HTTP/1.1 that checks certificates with the platform's verifier.
///
/// # Errors
/// [`Error::Client`]; none is known.
pub fn tls() -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let roots = LazyVerifier { provider: Arc::clone(&provider), verifier: OnceLock::new() };
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Client(error.to_string()))?;
    // "dangerous" means any verifier that is not rustls's own; this one leaves all decisions to the platform's.
    let mut tls = builder.dangerous().with_custom_certificate_verifier(Arc::new(roots)).with_no_client_auth();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

#[derive(Debug)]
struct LazyVerifier {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, rustls::Error>>,
}

impl ServerCertVerifier for LazyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.verifier.get_or_init(|| Verifier::new(Arc::clone(&self.provider))) {
            Ok(verifier) => verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
            Err(error) => Err(error.clone()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
