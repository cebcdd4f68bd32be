// Box blur with 3x3 taps.
#define BLUR blur3x3
#define TAPS 3
#define SUM(at) at(0) + at(1) + at(2)
#include "blur.h"
