// The Linux calls that Swift's Glibc module leaves out.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// glibc declares this one under _GNU_SOURCE only.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
