// What a child of fork() must not have: descriptors that carry locks of the parent.
//
// Record locks of an open file description live as long as any copy of it, so a child that outlives its parent would
// make the parent look alive. The descriptors noted here are closed in a child; its mappings are gone already
// (MADV_DONTFORK). An object made before the fork is known by its generation: in the child it is only forgotten.
#pragma once

#include <cstdint>

namespace selvage::impl::shm {

// Makes the descriptor one that forked children close. 0 or a negative fabric errno; then it is not noted.
int note_descriptor(int file);
// Forgets and closes it.
void close_noted(int file);

// Counts the forks between the first process and this one.
uint64_t fork_generation();

}  // namespace selvage::impl::shm
