// SPDX-License-Identifier: MIT

#include "AllocationCounter.h"
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define CANNOT_COUNT 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(CANNOT_COUNT)

// glibc's own names, so that its allocator stays underneath.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread int64_t allocations;

void *malloc(size_t size) {
  allocations += 1;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  allocations += 1;
  return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
  allocations += 1;
  return __libc_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  allocations += 1;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  allocations += 1;
  void *pointer = __libc_memalign(alignment, size);
  if (pointer == NULL) return 12;
  *result = pointer;
  return 0;
}

int64_t allocation_counter_get(void) { return allocations; }

#else

int64_t allocation_counter_get(void) { return -1; }

#endif
