// Box blur with 5x5 taps.
#define BLUR blur5x5
#define TAPS 5
#define SUM(at) at(0) + at(1) + at(2) + at(3) + at(4)
#include "blur.h"
