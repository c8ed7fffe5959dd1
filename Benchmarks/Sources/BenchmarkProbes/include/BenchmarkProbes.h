// SPDX-License-Identifier: MIT
#ifndef BENCHMARK_PROBES_H
#define BENCHMARK_PROBES_H

#include <stdint.h>

// How many blocks were posted to the main queue so far, by anybody; -1 where they cannot be counted.
int64_t main_queue_posts(void);

// How many bytes of heap are in use, with what the allocator adds to each block; -1 where it does not tell.
int64_t heap_bytes(void);

// Calls back. A name that callgrind can be told to count in, and in nothing else.
void measured_section(void (*body)(void));

#endif
