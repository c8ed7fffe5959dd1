// SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "BenchmarkProbes.h"

#if defined(__linux__) && defined(__GLIBC__)

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int64_t posts;

// Stands before libdispatch's own, which it calls. Swift's `DispatchQueue.async` ends here; the Swift runtime's own
// way to the main actor does not.
void dispatch_async(void *queue, void *block) {
  static void (*_Atomic next)(void *, void *);
  static void *_Atomic main_queue;
  if (atomic_load(&next) == NULL) {
    atomic_store(&main_queue, dlsym(RTLD_DEFAULT, "_dispatch_main_q"));
    atomic_store(&next, (void (*)(void *, void *))dlsym(RTLD_NEXT, "dispatch_async"));
  }
  if (queue == atomic_load(&main_queue)) atomic_fetch_add(&posts, 1);
  atomic_load(&next)(queue, block);
}

int64_t main_queue_posts(void) { return atomic_load(&posts); }

int64_t heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

#elif defined(__APPLE__)

#include <malloc/malloc.h>

int64_t main_queue_posts(void) { return -1; }

int64_t heap_bytes(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return (int64_t)statistics.size_in_use;
}

#else

int64_t main_queue_posts(void) { return -1; }
int64_t heap_bytes(void) { return -1; }

#endif

__attribute__((noinline)) void measured_section(void (*body)(void)) {
  body();
  // Keeps the call above from becoming a jump, which would not return through here.
  __asm__ volatile("");
}
