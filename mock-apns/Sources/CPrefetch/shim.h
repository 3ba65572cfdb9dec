// Asks for the cache line at an address, which is not looked at: any address is right. Swift has no name for it.
#pragma once

static inline void pushload_prefetch(const void *address) { __builtin_prefetch(address); }
