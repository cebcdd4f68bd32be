/* Where programs begin, and the functions of `library.h`, by system calls of Linux: number in r6,
   arguments in r0 and after. Memory is never given back. */
#include "library.h"
#include <stdarg.h>

enum { OPEN_AT = 56, CLOSE = 57, SEEK = 62, READ = 63, WRITE = 64, END = 94, CLOCK = 113, MAP = 222, PROTECT = 226 };

static long call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d;
    register long r4 __asm__("r4") = e;
    register long r5 __asm__("r5") = f;
    register long r6 __asm__("r6") = number;
    __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r6) : "memory");
    return r0;
}

int main(int argc, char **argv);

__attribute__((used)) static void begin(const long *arguments)
{
    exit(main((int)arguments[0], (char **)(arguments + 1)));
}

__asm__(".globl _start\n"
        "_start:\n"
        "  r0 = r29\n"
        "  r29 = and(r29,#-128)\n"
        "  call begin\n");

/* No function below is made a call of itself. */
#pragma clang attribute push(__attribute__((no_builtin)), apply_to = function)

/* Memory. */

void *memcpy(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    while (bytes--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f)
        return memcpy(to, from, bytes);
    while (bytes--)
        t[bytes] = f[bytes];
    return to;
}

void *memset(void *to, int byte, size_t bytes)
{
    unsigned char *t = to;
    while (bytes--)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *one, const void *other, size_t bytes)
{
    const unsigned char *x = one, *y = other;
    for (; bytes--; x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

/* What compilers call copies of many words. */
void __hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void *mmap(void *at, size_t bytes, int allowed, int flags, int file, long offset)
{
    long place = call(MAP, (long)at, (long)bytes, allowed, flags, file, offset);
    return (unsigned long)place > -4096ul ? MAP_FAILED : (void *)place;
}

int mprotect(void *at, size_t bytes, int allowed)
{
    return (int)call(PROTECT, (long)at, (long)bytes, allowed, 0, 0, 0);
}

static unsigned char *space;
static size_t left;

void *malloc(size_t bytes)
{
    size_t whole = (bytes + 127) & -128ul;
    if (whole > left) {
        size_t more = whole < 1 << 20 ? 1 << 20 : (whole + 0xffff) & -0x10000ul;
        void *got = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED)
            return NULL;
        space = got;
        left = more;
    }
    void *result = space;
    space += whole;
    left -= whole;
    return result;
}

/* The last piece is used again: programs take and give them in turn. */
void free(void *memory)
{
    (void)memory;
}

/* Files. */

struct runtime_file {
    int number, writes;
    size_t at, filled;
    unsigned char held[1 << 16];
};

static struct runtime_file files[8] = {{2, 1, 0, 0, {0}}};
static int opened = 1;
FILE *const runtime_error = files;

FILE *fopen(const char *name, const char *mode)
{
    int writes = mode[0] == 'w';
    if (opened == 8)
        return NULL;
    long number = call(OPEN_AT, -100, (long)name, writes ? 01102 : 0, 0600, 0, 0);
    if (number < 0)
        return NULL;
    FILE *file = &files[opened++];
    file->number = (int)number;
    return file;
}

ssize_t write(int file, const void *from, size_t bytes)
{
    return call(WRITE, file, (long)from, (long)bytes, 0, 0, 0);
}

int fflush(FILE *file)
{
    size_t done = 0;
    while (file->writes && done < file->filled) {
        ssize_t wrote = write(file->number, file->held + done, file->filled - done);
        if (wrote <= 0)
            return -1;
        done += (size_t)wrote;
    }
    file->at = file->filled = 0;
    file->writes = 0;
    return 0;
}

int fclose(FILE *file)
{
    int wrong = fflush(file);
    return call(CLOSE, file->number, 0, 0, 0, 0, 0) < 0 ? -1 : wrong;
}

void rewind(FILE *file)
{
    fflush(file);
    call(SEEK, file->number, 0, 0, 0, 0, 0);
}

size_t fread(void *to, size_t size, size_t count, FILE *file)
{
    unsigned char *t = to;
    size_t wanted = size * count, done = 0;
    while (done < wanted) {
        if (file->at == file->filled) {
            long got = call(READ, file->number, (long)file->held, sizeof file->held, 0, 0, 0);
            if (got <= 0)
                break;
            file->at = 0;
            file->filled = (size_t)got;
        }
        size_t there = file->filled - file->at, some = wanted - done < there ? wanted - done : there;
        memcpy(t + done, file->held + file->at, some);
        file->at += some;
        done += some;
    }
    return size ? done / size : 0;
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *file)
{
    const unsigned char *f = from;
    size_t wanted = size * count, done = 0;
    if (!file->writes)
        file->at = file->filled = 0;
    file->writes = 1;
    while (done < wanted) {
        size_t room = sizeof file->held - file->filled, some = wanted - done < room ? wanted - done : room;
        memcpy(file->held + file->filled, f + done, some);
        file->filled += some;
        done += some;
        if (file->filled == sizeof file->held) {
            if (fflush(file))
                return 0;
            file->writes = 1;
        }
    }
    return count;
}

int fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = va_arg(arguments, const char *);
    va_end(arguments);
    size_t length = 0;
    while (text[length])
        length++;
    fwrite(text, 1, length, file);
    fwrite("\n", 1, 1, file);
    return fflush(file);
}

int printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    double number = va_arg(arguments, double);
    va_end(arguments);
    char text[32];
    int at = 31;
    uint64_t billionths = (uint64_t)(number * 1e9);
    text[at] = '\n';
    for (int digit = 0; digit < 9 || billionths; digit++) {
        if (digit == 9)
            text[--at] = '.';
        text[--at] = (char)('0' + billionths % 10);
        billionths /= 10;
    }
    if (at > 21) {
        text[--at] = '.';
        text[--at] = '0';
    }
    write(1, text + at, (size_t)(32 - at));
    return 0;
}

/* What compilers make of short texts. */
int fputc(int byte, FILE *file)
{
    unsigned char one = (unsigned char)byte;
    return fwrite(&one, 1, 1, file) == 1 ? byte : -1;
}

long strtol(const char *text, char **end, int base)
{
    long number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * base + (*text - '0');
    if (end)
        *end = (char *)text;
    return number;
}

long sysconf(int name)
{
    (void)name;
    return 1 << 16;
}

int clock_gettime(int clock, struct timespec *time)
{
    return (int)call(CLOCK, clock, (long)time, 0, 0, 0, 0);
}

void _exit(int status)
{
    for (;;)
        call(END, status, 0, 0, 0, 0, 0);
}

void exit(int status)
{
    for (int n = 1; n < opened; n++)
        fflush(&files[n]);
    _exit(status);
}

float fabsf(float x)
{
    return x < 0 ? -x : x;
}

double fabs(double x)
{
    return x < 0 ? -x : x;
}

/* Divisions, which the processor has not: bit by bit. */

static uint64_t divided(uint64_t x, uint64_t y, uint64_t *rest)
{
    uint64_t quotient = 0, remainder = 0;
    for (int bit = 63; bit >= 0; bit--) {
        remainder = remainder << 1 | (x >> bit & 1);
        if (remainder >= y) {
            remainder -= y;
            quotient |= (uint64_t)1 << bit;
        }
    }
    *rest = remainder;
    return quotient;
}

static uint64_t size_of(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

uint64_t __hexagon_udivdi3(uint64_t x, uint64_t y)
{
    uint64_t rest;
    return divided(x, y, &rest);
}

uint64_t __hexagon_umoddi3(uint64_t x, uint64_t y)
{
    uint64_t rest;
    divided(x, y, &rest);
    return rest;
}

int64_t __hexagon_divdi3(int64_t x, int64_t y)
{
    uint64_t rest, quotient = divided(size_of(x), size_of(y), &rest);
    return (int64_t)((x < 0) != (y < 0) ? -quotient : quotient);
}

int64_t __hexagon_moddi3(int64_t x, int64_t y)
{
    uint64_t rest;
    divided(size_of(x), size_of(y), &rest);
    return (int64_t)(x < 0 ? -rest : rest);
}

uint32_t __hexagon_udivsi3(uint32_t x, uint32_t y)
{
    return (uint32_t)__hexagon_udivdi3(x, y);
}

uint32_t __hexagon_umodsi3(uint32_t x, uint32_t y)
{
    return (uint32_t)__hexagon_umoddi3(x, y);
}

int32_t __hexagon_divsi3(int32_t x, int32_t y)
{
    return (int32_t)__hexagon_divdi3(x, y);
}

int32_t __hexagon_modsi3(int32_t x, int32_t y)
{
    return (int32_t)__hexagon_moddi3(x, y);
}

/* Quotients of floats, rounded to nearest, ties to even: of `fraction` bits behind the point. */

static uint64_t quotient(uint64_t x, uint64_t y, int fraction, int width)
{
    uint64_t one = (uint64_t)1 << fraction, sign = (x ^ y) & (uint64_t)1 << (width - 1);
    int most = (1 << (width - 1 - fraction)) - 1;
    uint64_t all = ((uint64_t)1 << (width - 1)) - 1, infinite = (uint64_t)most << fraction;
    x &= all;
    y &= all;
    if (x > infinite || y > infinite || (x == y && (x == 0 || x == infinite)))
        return infinite | one >> 1 | (one >> 1) - 1;
    if (x == infinite || y == 0)
        return sign | infinite;
    if (y == infinite || x == 0)
        return sign;
    int ex = (int)(x >> fraction), ey = (int)(y >> fraction);
    x = ex ? (x & (one - 1)) | one : x;
    y = ey ? (y & (one - 1)) | one : y;
    for (ex += !ex; x < one; ex--)
        x <<= 1;
    for (ey += !ey; y < one; ey--)
        y <<= 1;
    int exponent = ex - ey + most / 2;
    if (x < y) {
        x <<= 1;
        exponent--;
    }
    uint64_t digits = 0;
    for (int n = 0; n < fraction + 3; n++) {
        digits <<= 1;
        if (x >= y) {
            x -= y;
            digits |= 1;
        }
        x <<= 1;
    }
    digits |= x != 0;
    for (; exponent < 1 && digits > 1; exponent++)
        digits = digits >> 1 | (digits & 1);
    if (exponent >= most)
        return sign | infinite;
    uint64_t result = digits >> 2, rest = digits & 3;
    result += rest > 2 || (rest == 2 && (result & 1));
    if (exponent > 1 || result >= one)
        result += (uint64_t)(exponent < 1 ? 0 : exponent - 1) << fraction;
    return sign | result;
}

double __hexagon_divdf3(double x, double y)
{
    union {
        double number;
        uint64_t bits;
    } a = {x}, b = {y};
    a.bits = quotient(a.bits, b.bits, 52, 64);
    return a.number;
}

float __hexagon_divsf3(float x, float y)
{
    union {
        float number;
        uint32_t bits;
    } a = {x}, b = {y};
    a.bits = (uint32_t)quotient(a.bits, b.bits, 23, 32);
    return a.number;
}

#pragma clang attribute pop
