/* Stops the process before each call that changes or syncs files below $RECORD_UNDER, and says which on $RECORD_TO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPENAT2 437

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void stop(const char *call, const char *path, size_t start, size_t length) {
    const char *under = getenv("RECORD_UNDER"), *to = getenv("RECORD_TO");
    char line[PATH_MAX + 100];
    if (!under || !to || strncmp(path, under, strlen(under)))
        return;
    int size = snprintf(line, sizeof line, "%s\t%zu\t%zu\t%s\n", call, start, length, path);
    pthread_mutex_lock(&lock);
    if (write(atoi(to), line, size) == size)
        raise(SIGSTOP); /* of this thread: it goes no further before the others are stopped as well */
    pthread_mutex_unlock(&lock);
}

static void stop_fd(const char *call, int fd, size_t start, size_t length) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size > 0) {
        path[size] = 0;
        stop(call, path, start, length);
    }
}

static void stop_path(const char *call, const char *path) {
    char folder[PATH_MAX], whole[PATH_MAX * 2];
    if (*path == '/')
        stop(call, path, 0, 0);
    else if (getcwd(folder, sizeof folder)) {
        snprintf(whole, sizeof whole, "%s/%s", folder, path);
        stop(call, whole, 0, 0);
    }
}

/* What the `...at` calls name, as a path. */
static const char *path_at(int folder, const char *path, char *whole, size_t size) {
    char link[64];
    if (*path == '/' || folder == AT_FDCWD)
        return path;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, whole, size - 1);
    if (length < 0)
        return path;
    snprintf(whole + length, size - length, "/%s", path);
    return whole;
}

static void stop_mapped(const char *call, size_t address, size_t length) {
    char line[PATH_MAX + 200], path[PATH_MAX];
    size_t from, to, offset;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%zx-%zx %*s %zx %*s %*s %[^\n]", &from, &to, &offset, path) == 4 && from <= address &&
            address < to) {
            fclose(maps);
            stop(call, path, address - from + offset, length);
            return;
        }
    if (maps)
        fclose(maps);
}

int fsync(int fd) {
    stop_fd("sync", fd, 0, SIZE_MAX);
    return REAL(fsync)(fd);
}
int fdatasync(int fd) {
    stop_fd("sync", fd, 0, SIZE_MAX);
    return REAL(fdatasync)(fd);
}
int msync(void *address, size_t length, int flags) {
    if (flags & MS_SYNC)
        stop_mapped("sync", (size_t)address, length);
    return REAL(msync)(address, length, flags);
}
int rename(const char *from, const char *to) {
    stop_path("replace", to);
    return REAL(rename)(from, to);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    char whole[PATH_MAX * 2];
    stop_path("replace", path_at(to_folder, to, whole, sizeof whole));
    return REAL(renameat)(from_folder, from, to_folder, to);
}
int unlink(const char *path) {
    stop_path("unlink", path);
    return REAL(unlink)(path);
}
int mkdir(const char *path, mode_t mode) {
    int made = REAL(mkdir)(path, mode);
    if (!made)
        stop_path("made", path);
    return made;
}
/* Whether the file was made by this is told after the call: its inode may have been another file's before. */
#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        int is_new = (flags & O_CREAT) && access(path, F_OK), fd = REAL(name)(path, flags, va_arg(rest, mode_t));      \
        va_end(rest);                                                                                                  \
        if (is_new && fd >= 0)                                                                                         \
            stop_path("made", path);                                                                                   \
        return fd;                                                                                                     \
    }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        va_list rest;                                                                                                  \
        char whole[PATH_MAX * 2];                                                                                      \
        va_start(rest, flags);                                                                                         \
        int is_new = (flags & O_CREAT) && faccessat(folder, path, F_OK, 0),                                            \
            fd = REAL(name)(folder, path, flags, va_arg(rest, mode_t));                                                \
        va_end(rest);                                                                                                  \
        if (is_new && fd >= 0)                                                                                         \
            stop_path("made", path_at(folder, path, whole, sizeof whole));                                             \
        return fd;                                                                                                     \
    }
OPENAT(openat)
OPENAT(openat64)
/* openat2 has no function of its own in the C library. */
long syscall(long number, ...) {
    va_list rest;
    long given[6];
    char whole[PATH_MAX * 2];
    va_start(rest, number);
    for (int at = 0; at < 6; at++)
        given[at] = va_arg(rest, long);
    va_end(rest);
    const char *path = (const char *)given[1];
    int is_new = number == OPENAT2 && (*(uint64_t *)given[2] & O_CREAT) && faccessat((int)given[0], path, F_OK, 0);
    long result = REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
    if (is_new && result >= 0)
        stop_path("made", path_at((int)given[0], path, whole, sizeof whole));
    return result;
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    stop_fd("write", fd, offset, size);
    return REAL(pwrite64)(fd, data, size, offset);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    stop_fd("write", fd, offset, size);
    return REAL(pwrite)(fd, data, size, offset);
}
int ftruncate64(int fd, off64_t size) {
    stop_fd("truncate", fd, 0, 0);
    return REAL(ftruncate64)(fd, size);
}
