// libcurl as Swift sees it. curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic, which Swift cannot call; each
// function here gives one of the kinds of value that libcurl's options take.
#pragma once
#include <curl/curl.h>

static inline CURLcode pushload_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode pushload_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode pushload_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
// Of CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode pushload_curl_set_writer(
    CURL *easy, CURLoption option, size_t (*writer)(char *bytes, size_t size, size_t count, void *context)) {
  return curl_easy_setopt(easy, option, writer);
}
// Of CURLOPT_OPENSOCKETFUNCTION and CURLOPT_PREREQFUNCTION.
static inline CURLcode pushload_curl_set_opener(CURL *easy, curl_opensocket_callback opener) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opener);
}
static inline CURLcode pushload_curl_set_prerequest(CURL *easy, curl_prereq_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}
static inline CURLcode pushload_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode pushload_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode pushload_curl_get_size(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode pushload_curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode pushload_curl_multi_set_socket(CURLM *multi, curl_socket_callback callback) {
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}
static inline CURLMcode pushload_curl_multi_set_timer(CURLM *multi, curl_multi_timer_callback callback) {
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}
static inline CURLMcode pushload_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
