// What POSIX and glibc have and WASI has not, as far as the program uses it: posix.c defines it.
#pragma once
#include_next <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

uid_t geteuid(void);
ssize_t getrandom(void* room, size_t size, unsigned flags);
char* mkdtemp(char* name);

#ifdef __cplusplus
}
#endif
