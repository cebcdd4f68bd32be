// Box blur with 7x7 taps.
#define BLUR blur7x7
#define TAPS 7
#define SUM(at) at(0) + at(1) + at(2) + at(3) + at(4) + at(5) + at(6)
#include "blur.h"
