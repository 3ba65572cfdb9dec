// The Linux calls that Swift's Glibc module leaves out.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>

// glibc declares this one under _GNU_SOURCE only. <sys/socket.h> is left to Swift's Glibc module: of two modules that bring its
// constants Swift lets a file see only the first one's.
struct sockaddr;
extern int accept4(int descriptor, struct sockaddr *address, unsigned int *length, int flags);

// Which cores a thread may use, one bit each; 0 is the calling thread. The same under _GNU_SOURCE.
#include <sched.h>
extern int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *cores);
extern int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cores);

#include <stdint.h>

// How much later than asked the kernel may end a wait of the calling thread, ns: PR_SET_TIMERSLACK of <sys/prctl.h>. prctl is
// variadic, which Swift cannot call.
extern int prctl(int option, ...);
static inline int pushload_set_timer_slack(unsigned long nanoseconds) {
    return prctl(29, nanoseconds, 0ul, 0ul, 0ul);
}

// The processor's time-stamp counter: it counts at a constant rate where the kernel uses it as its clock.
static inline uint64_t pushload_cycles(void) {
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return 0;
#endif
}
