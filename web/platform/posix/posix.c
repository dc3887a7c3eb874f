// Each answers as on a machine with one user, without a name.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

uid_t geteuid(void) { return 0; }

ssize_t getrandom(void* room, size_t size, unsigned flags) {
  (void)flags;
  return getentropy(room, size) == 0 ? (ssize_t)size : -1;
}

// The name ends in XXXXXX. A word that no folder has yet replaces it.
char* mkdtemp(char* name) {
  char* const end = name + strlen(name) - 6;
  for (int attempt = 0; attempt < 100; ++attempt) {
    unsigned char random[6];
    if (getentropy(random, sizeof random) != 0) return NULL;
    for (int i = 0; i < 6; ++i) end[i] = (char)('a' + random[i] % 26);
    if (mkdir(name, 0700) == 0) return name;
    if (errno != EEXIST) return NULL;
  }
  return NULL;
}

// There are no pipes and sockets to wait for.
int gethostname(char* name, size_t size) {
  (void)name;
  (void)size;
  errno = ENOSYS;
  return -1;
}

int ppoll(struct pollfd* polled, nfds_t count, const struct timespec* time, const sigset_t* signals) {
  (void)polled;
  (void)count;
  (void)time;
  (void)signals;
  return 0;
}

// web/page/wasi.js makes a file of no name by this one.
int memfd_create(const char* name, unsigned flags) {
  (void)name;
  (void)flags;
  return open("/proc/self/fd/new", O_RDWR | O_CREAT, 0600);
}
