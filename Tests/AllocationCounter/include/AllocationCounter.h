// SPDX-License-Identifier: MIT
#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

// How many allocations the calling thread has made so far; -1 where they cannot be counted (sanitizers, other systems).
int64_t allocation_counter_get(void);

#endif
