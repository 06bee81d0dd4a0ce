/* Preloaded into a process: counts what syncs a file, and makes each sync as slow as a disk's.
 *
 * SYNC_DELAY_US: so many microseconds are added to each fsync and fdatasync. `sync_calls` tells how
 * many there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_long calls;

long sync_calls(void) { return atomic_load(&calls); }

static int counted(const char *name, int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const char *asked = getenv("SYNC_DELAY_US");
    long delay_us = asked ? atol(asked) : 0;
    atomic_fetch_add(&calls, 1);
    if (delay_us > 0) {
        struct timespec pause = {delay_us / 1000000, delay_us % 1000000 * 1000};
        nanosleep(&pause, NULL);
    }
    return real(fd);
}

int fsync(int fd) { return counted("fsync", fd); }
int fdatasync(int fd) { return counted("fdatasync", fd); }
