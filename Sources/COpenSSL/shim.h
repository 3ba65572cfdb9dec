// OpenSSL 3 as Swift sees it. The functions below exist in OpenSSL only as macros, which Swift cannot import.
#pragma once
#include <malloc.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline long pushload_SSL_CTX_set_min_proto_version(SSL_CTX *ctx, int version) {
  return SSL_CTX_set_min_proto_version(ctx, version);
}
static inline long pushload_SSL_CTX_set_max_proto_version(SSL_CTX *ctx, int version) {
  return SSL_CTX_set_max_proto_version(ctx, version);
}
static inline long pushload_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) {
  return SSL_CTX_set_mode(ctx, mode);
}
static inline long pushload_SSL_CTX_set_read_ahead(SSL_CTX *ctx, int on) {
  return SSL_CTX_set_read_ahead(ctx, on);
}
static inline long pushload_SSL_CTX_set_session_cache_mode(SSL_CTX *ctx, long mode) {
  return SSL_CTX_set_session_cache_mode(ctx, mode);
}
static inline long pushload_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}
static inline int pushload_BIO_get_ktls_send(BIO *bio) {
  return BIO_get_ktls_send(bio);
}
static inline int pushload_BIO_get_mem_data(BIO *bio, char **data) {
  return (int)BIO_get_mem_data(bio, data);
}
// The error OpenSSL has for a peer's alert.
static inline unsigned long pushload_alert_error(int alert) {
  return ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + alert);
}
// RFC 9113 section 9.2: TLS without renegotiation and compression.
static const uint64_t pushload_SSL_OP_HTTP2 = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
// The first of the server's suites that the client offers, not the first of the client's.
static const uint64_t pushload_SSL_OP_SERVER_ORDER = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const uint64_t pushload_SSL_OP_ENABLE_KTLS = SSL_OP_ENABLE_KTLS;
static inline EVP_PKEY *pushload_generate_p256(void) {
  return EVP_EC_gen("P-256");
}
