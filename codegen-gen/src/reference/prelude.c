#ifndef ISAFORGE_REFERENCE
#define ISAFORGE_REFERENCE

/* Bits are in words, the least significant first; what lies above their width is 0. A number of
   up to 64 bits is one word. Shifts past the width, bits outside and divisions by 0 have the
   results that SMT-LIB gives them. */

static inline uint64_t ref_mask(unsigned width)
{
    return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

static inline unsigned ref_words(unsigned width)
{
    return (width + 63) / 64;
}

static inline uint64_t ref_sext(uint64_t x, unsigned from, unsigned to)
{
    uint64_t sign = (uint64_t)1 << (from - 1);
    return ((x ^ sign) - sign) & ref_mask(to);
}

static inline int ref_slt(uint64_t x, uint64_t y, unsigned width)
{
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (x ^ sign) < (y ^ sign);
}

static inline uint64_t ref_shl(uint64_t x, uint64_t by, unsigned width)
{
    return by >= width ? 0 : (x << by) & ref_mask(width);
}

static inline uint64_t ref_lshr(uint64_t x, uint64_t by, unsigned width)
{
    return by >= width ? 0 : x >> by;
}

static inline uint64_t ref_ashr(uint64_t x, uint64_t by, unsigned width)
{
    uint64_t sign = x >> (width - 1) ? ref_mask(width) : 0;
    return by >= width ? sign : ((x ^ sign) >> by) ^ sign;
}

static inline uint64_t ref_udiv(uint64_t x, uint64_t y, unsigned width)
{
    return y ? x / y : ref_mask(width);
}

static inline uint64_t ref_urem(uint64_t x, uint64_t y)
{
    return y ? x % y : x;
}

static inline uint64_t ref_abs(uint64_t x, unsigned width)
{
    return x >> (width - 1) ? (0 - x) & ref_mask(width) : x;
}

static inline uint64_t ref_sdiv(uint64_t x, uint64_t y, unsigned width)
{
    uint64_t q = ref_udiv(ref_abs(x, width), ref_abs(y, width), width);
    return (x ^ y) >> (width - 1) ? (0 - q) & ref_mask(width) : q;
}

static inline uint64_t ref_srem(uint64_t x, uint64_t y, unsigned width)
{
    uint64_t r = ref_urem(ref_abs(x, width), ref_abs(y, width));
    return x >> (width - 1) ? (0 - r) & ref_mask(width) : r;
}

/* A number of `from` bits clamped to `to`; whether either is signed is told. */
static inline uint64_t ref_sat(uint64_t x, unsigned from, unsigned to, int is_signed, int to_signed)
{
    uint64_t most = to_signed ? ref_mask(to) >> 1 : ref_mask(to);
    uint64_t least = to_signed ? ~most : 0;
    if (is_signed && x >> (from - 1)) {
        uint64_t wide = ref_sext(x, from, 64);
        return (to_signed && wide > least ? wide : least) & ref_mask(to);
    }
    return x > most ? most : x;
}

static inline uint64_t ref_popcnt(uint64_t x)
{
    uint64_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

static inline uint64_t ref_clz(uint64_t x, unsigned width)
{
    uint64_t n = width;
    for (; x; x >>= 1)
        n--;
    return n;
}

static inline uint64_t ref_ctz(uint64_t x, unsigned width)
{
    uint64_t n = 0;
    for (; n < width && !(x >> n & 1); n++)
        ;
    return n;
}

/* `width` bits of `x`, which has `of`, from bit `lo` on. */
static inline uint64_t ref_get(const uint64_t *x, unsigned of, uint64_t lo, unsigned width)
{
    uint64_t word;
    if (lo >= of)
        return 0;
    word = x[lo / 64] >> (lo % 64);
    if (lo % 64 && lo / 64 + 1 < ref_words(of))
        word |= x[lo / 64 + 1] << (64 - lo % 64);
    return word & ref_mask(width);
}

/* The element of a number, 0 past the last. */
static inline uint64_t ref_elem(const uint64_t *x, unsigned of, uint64_t k, unsigned width)
{
    return k > of / width ? 0 : ref_get(x, of, k * width, width);
}

/* Puts `width` bits where there are zeros. */
static inline void ref_put(uint64_t *to, uint64_t lo, unsigned width, uint64_t bits)
{
    to[lo / 64] |= bits << (lo % 64);
    if (lo % 64 + width > 64)
        to[lo / 64 + 1] |= bits >> (64 - lo % 64);
}

/* The same with words. */
static inline void ref_take(uint64_t *to, const uint64_t *x, unsigned of, uint64_t lo, unsigned width)
{
    unsigned k;
    for (k = 0; k < width; k += 64)
        to[k / 64] = ref_get(x, of, lo + k, width - k < 64 ? width - k : 64);
}

static inline void ref_place(uint64_t *to, uint64_t lo, unsigned width, const uint64_t *bits)
{
    unsigned k;
    for (k = 0; k < width; k += 64)
        ref_put(to, lo + k, width - k < 64 ? width - k : 64, bits[k / 64]);
}

static inline void ref_extend(uint64_t *to, unsigned width, const uint64_t *x, unsigned from, int is_signed)
{
    unsigned k;
    int negative = is_signed && ref_get(x, from, from - 1, 1);
    for (k = 0; k < width; k += 64) {
        uint64_t word = ref_get(x, from, k, 64);
        if (negative && k + 64 > from)
            word |= k >= from ? ~(uint64_t)0 : ~ref_mask(from - k);
        to[k / 64] = word & ref_mask(width - k < 64 ? width - k : 64);
    }
}

static inline void ref_add(uint64_t *to, const uint64_t *x, const uint64_t *y, unsigned width, int minus)
{
    unsigned k;
    uint64_t carry = minus != 0;
    for (k = 0; k < width; k += 64) {
        uint64_t b = minus ? ~y[k / 64] : y[k / 64], sum = x[k / 64] + b;
        uint64_t over = sum < b;
        sum += carry;
        over |= sum < carry;
        carry = over;
        to[k / 64] = sum & ref_mask(width - k < 64 ? width - k : 64);
    }
}

static inline int ref_less(const uint64_t *x, const uint64_t *y, unsigned width, int is_signed)
{
    unsigned k = ref_words(width);
    if (is_signed) {
        int p = (int)ref_get(x, width, width - 1, 1), q = (int)ref_get(y, width, width - 1, 1);
        if (p != q)
            return p;
    }
    while (k-- > 0)
        if (x[k] != y[k])
            return x[k] < y[k];
    return 0;
}

static inline int ref_same(const uint64_t *x, const uint64_t *y, unsigned width)
{
    return !memcmp(x, y, ref_words(width) * 8);
}

/* A count that is a number of as many bits as what is shifted: 0 left, 1 right, 2 with the sign. */
static inline void ref_shift(uint64_t *to, const uint64_t *x, const uint64_t *count, unsigned width, int how)
{
    unsigned k;
    uint64_t by = count[0], bit, n;
    int sign = how == 2 && ref_get(x, width, width - 1, 1);
    for (k = 1; k < ref_words(width); k++)
        if (count[k])
            by = width;
    if (by > width)
        by = width;
    for (k = 0; k < ref_words(width); k++)
        to[k] = 0;
    for (n = 0; n < width; n++) {
        uint64_t from = how == 0 ? n - by : n + by;
        bit = how == 0 && n < by ? 0 : from >= width ? (uint64_t)sign : ref_get(x, width, from, 1);
        to[n / 64] |= bit << (n % 64);
    }
}

static inline void ref_multiply(uint64_t *to, const uint64_t *x, const uint64_t *y, unsigned width)
{
    unsigned i, j, halves = 2 * ref_words(width);
    for (i = 0; i < ref_words(width); i++)
        to[i] = 0;
    for (i = 0; i < halves; i++) {
        uint64_t carry = 0, p = x[i / 2] >> (i % 2 * 32) & 0xffffffff;
        for (j = 0; i + j < halves; j++) {
            unsigned k = i + j, by = k % 2 * 32;
            uint64_t q = y[j / 2] >> (j % 2 * 32) & 0xffffffff;
            uint64_t sum = p * q + (to[k / 2] >> by & 0xffffffff) + carry;
            to[k / 2] = (to[k / 2] & ~((uint64_t)0xffffffff << by)) | (sum & 0xffffffff) << by;
            carry = sum >> 32;
        }
    }
    to[ref_words(width) - 1] &= ref_mask(width % 64 ? width % 64 : 64);
}

/* Memory: the byte at the lowest address is the least significant. */
static inline void ref_read(uint64_t *to, uint64_t address, unsigned bytes)
{
    const unsigned char *from = (const unsigned char *)(uintptr_t)address;
    unsigned k;
    for (k = 0; k < bytes; k++)
        to[k / 8] = (k % 8 ? to[k / 8] : 0) | (uint64_t)from[k] << (k % 8 * 8);
}

static inline void ref_write(uint64_t address, const uint64_t *x, unsigned bytes)
{
    unsigned char *to = (unsigned char *)(uintptr_t)address;
    unsigned k;
    for (k = 0; k < bytes; k++)
        to[k] = (unsigned char)(x[k / 8] >> (k % 8 * 8));
}

#endif
