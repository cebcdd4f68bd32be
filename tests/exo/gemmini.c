// A scheduled product as a program of the machine's host, which starts at its first word and
// ends behind its last. PRODUCT is its name, RESULT the type of its result's window; how many
// blocks there are, and SCALE of what is stored, is read at 0x8000.
#define TEXT(x) #x
#define FILE_OF(x) TEXT(x.c)
#include FILE_OF(PRODUCT)

struct sizes {
    int m, n, k;
    float scale;
};

__asm__(".section .text.start, \"ax\"\n.globl _start\n_start: lui sp, 12\n");

__attribute__((section(".text.start"), flatten, used)) static void run(void) {
    const struct sizes *sizes = (const struct sizes *)0x8000;
    int m = sizes->m, n = sizes->n, k = sizes->k;
    PRODUCT(0, m, n, k, SCALE(struct exo_win_2i8c){(void *)0x10000, {16 * k, 1}},
            (struct exo_win_2i8c){(void *)0x20000, {16 * n, 1}},
            (struct RESULT){(void *)0x30000, {16 * n, 1}});
    __asm__ volatile("j end");
    __builtin_unreachable();
}

__asm__(".section .text.start\nend:\n");
