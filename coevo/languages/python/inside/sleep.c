/* Let processes with a faked clock sleep until a time of the monotonic clock, which is not faked.

Python has done so since 3.11. libfaketime 0.9.10 adds to that time what it adds to dates: the time is then
refused, or never comes (measured). Here calls for the monotonic clock go to the kernel, and all others to
libfaketime. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int (*Sleep)(clockid_t, int, const struct timespec *, struct timespec *);

__attribute__((visibility("default")))
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    if (clock == CLOCK_MONOTONIC)
        return syscall(SYS_clock_nanosleep, clock, flags, wanted, left) ? errno : 0;
    Sleep next = (Sleep)dlsym(RTLD_NEXT, "clock_nanosleep");
    return next ? next(clock, flags, wanted, left) : ENOSYS;
}
