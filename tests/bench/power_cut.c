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
