#include "../library.h"
