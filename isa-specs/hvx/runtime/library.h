/* A few functions of the C library, for a processor whose compiler comes without one. Programs
   of Isaforge read and write files and need no more; the headers beside this one are it. */
#ifndef RUNTIME_LIBRARY_H
#define RUNTIME_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* Files: the two that a program opens, and standard error. Nothing is kept back but by `fread`
   and `fwrite`, which have a buffer each. */
typedef struct runtime_file FILE;
extern FILE *const runtime_error;
#define stderr runtime_error
FILE *fopen(const char *name, const char *mode);
int fclose(FILE *file);
int fflush(FILE *file);
void rewind(FILE *file);
size_t fread(void *to, size_t size, size_t count, FILE *file);
size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
int fputc(int byte, FILE *file);
/* The format is `%s` and a line feed. */
int fprintf(FILE *file, const char *format, ...);
/* The format is `%.9f` and a line feed. */
int printf(const char *format, ...);

void *malloc(size_t bytes);
void free(void *memory);
long strtol(const char *text, char **end, int base);
_Noreturn void exit(int status);

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);

typedef int32_t ssize_t;
#define _SC_PAGESIZE 0
long sysconf(int name);
ssize_t write(int file, const void *from, size_t bytes);
_Noreturn void _exit(int status);

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_FIXED_NOREPLACE 16
#define MAP_FAILED ((void *)-1)
void *mmap(void *at, size_t bytes, int allowed, int flags, int file, long offset);
int mprotect(void *at, size_t bytes, int allowed);

struct timespec {
    long tv_sec, tv_nsec;
};
#define CLOCK_MONOTONIC 1
int clock_gettime(int clock, struct timespec *time);

/* Signals end a program: nothing is called for them. */
#define SIGSEGV 11
#define SIGBUS 7
#define SA_NODEFER 0
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
};
static inline int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    (void)number, (void)action, (void)old;
    return 0;
}
#define signal(number, function) ((void)(number), (void)(function))
typedef int sigjmp_buf[1];
#define sigsetjmp(place, mask) ((void)(place), (mask))
#define siglongjmp(place, value) ((void)(place), _exit(value))

float fabsf(float x);
double fabs(double x);

#endif
