// Calls one pipeline by pointers and by buffers that begin elsewhere and have strides of their
// own, and compares; then calls it with buffers that are wrong. Prints what differs.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct { uint8_t code, bits; uint16_t lanes; } type_of;
typedef struct { int32_t min, extent, stride; uint32_t flags; } dimension;
typedef struct { uint64_t device; const void *interface; uint8_t *host; uint64_t flags;
                 type_of type; int32_t dimensions; dimension *dim; void *padding; } buffer;

int by_pointers(const uint8_t *a, int64_t w, int64_t h, int16_t scale, uint8_t *out, int64_t ow, int64_t oh);
int by_buffers(buffer *a, int16_t scale, buffer *out);

enum { WIDTH = 90, HEIGHT = 12, ROW = 96, OUT_WIDTH = 75, OUT_HEIGHT = 9, OUT_ROW = 80 };
static uint8_t in[HEIGHT * ROW], out[OUT_HEIGHT * OUT_ROW], dense[OUT_HEIGHT * OUT_WIDTH], wanted[OUT_HEIGHT * OUT_WIDTH];
static int wrong;

static void expect(const char *what, int is, int should) {
    if (is != should) {
        printf("%s: %d, not %d\n", what, is, should);
        wrong = 1;
    }
}

int main(void) {
    for (int i = 0; i < HEIGHT * ROW; i++)
        in[i] = (uint8_t)(i * 37 + i / 11);
    // Rows of the input lie upwards, those of the output downwards; both begin elsewhere.
    dimension a_dim[] = {{-3, WIDTH, 1, 0}, {5, HEIGHT, ROW, 0}};
    dimension o_dim[] = {{4, OUT_WIDTH, 1, 0}, {6, OUT_HEIGHT, -OUT_ROW, 0}};
    const type_of bytes = {1, 8, 1};
    buffer a = {0, 0, in, 0, bytes, 2, a_dim, 0};
    buffer o = {0, 0, out + (OUT_HEIGHT - 1) * OUT_ROW, 0, bytes, 2, o_dim, 0};
    for (int y = 0; y < OUT_HEIGHT; y++)
        memcpy(dense + y * OUT_WIDTH, in + (y + 6 - 5) * ROW + 4 + 3, OUT_WIDTH);
    expect("by pointers", by_pointers(dense, OUT_WIDTH, OUT_HEIGHT, 77, wanted, OUT_WIDTH, OUT_HEIGHT), 0);
    memset(out, 0xee, sizeof out);
    expect("by buffers", by_buffers(&a, 77, &o), 0);
    for (int y = 0; y < OUT_HEIGHT; y++) {
        const uint8_t *row = out + (OUT_HEIGHT - 1 - y) * OUT_ROW;
        expect("a row", memcmp(row, wanted + y * OUT_WIDTH, OUT_WIDTH), 0);
        for (int x = OUT_WIDTH; x < OUT_ROW; x++)
            expect("what lies behind a row", row[x], 0xee);
    }
    memset(out, 0xee, sizeof out);
    expect("no buffer", by_buffers(0, 77, &o), -12);
    a.host = 0;
    expect("no memory", by_buffers(&a, 77, &o), -34);
    a.host = in;
    a.type.bits = 16;
    expect("another type", by_buffers(&a, 77, &o), -3);
    a.type = bytes;
    a.dimensions = 1;
    expect("other dimensions", by_buffers(&a, 77, &o), -43);
    a.dimensions = 2;
    a_dim[0].stride = 2;
    expect("elements apart", by_buffers(&a, 77, &o), -8);
    a_dim[0].stride = 1;
    a_dim[1].extent = 3;
    expect("too few rows", by_buffers(&a, 77, &o), -4);
    a_dim[1].extent = -1;
    expect("fewer than no rows", by_buffers(&a, 77, &o), -28);
    for (int i = 0; i < OUT_HEIGHT * OUT_ROW; i++)
        expect("what a refused call wrote", out[i], 0xee);
    return wrong;
}
