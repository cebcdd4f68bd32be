// A scheduled product as a program of the machine, which starts at its first word and ends
// behind its last. PRODUCT is its name, WINDOW the type of its factors, DEPTH how many of their
// elements one tile product takes; how many tiles there are is read at 0x4000.
#define TEXT(x) #x
#define FILE_OF(x) TEXT(x.c)
#include FILE_OF(PRODUCT)

struct sizes {
    int m, n, k;
};

__asm__(".section .text.start, \"ax\"\n.globl _start\n_start: lui sp, 8\n");

__attribute__((section(".text.start"), flatten, used)) static void run(void) {
    const volatile struct sizes *sizes = (const volatile struct sizes *)0x4000;
    int m = sizes->m, n = sizes->n, k = sizes->k;
    PRODUCT(0, m, n, k, (struct WINDOW){(void *)0x1000, {DEPTH * k, 1}},
            (struct WINDOW){(void *)0x2000, {DEPTH * k, 1}},
            (struct exo_win_2i32){(void *)0x3000, {4 * n, 1}});
    __asm__ volatile("j end");
    __builtin_unreachable();
}

__asm__(".section .text.start\nend:\n");
