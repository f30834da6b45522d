/* What small_provider.c was asked for. */
#pragma once

#include <rdma/fabric.h>
#include <stddef.h>
#include <stdint.h>

/* What its objects return. */
#define SMALL_DOMAIN_ERROR FI_EKEYREJECTED
#define SMALL_EQ_ERROR FI_EDOMAIN

struct small_seen {
    int loads;
    int queries;
    int foreign_names; /* queries whose hints name another provider */
    int opens;
    int fabrics; /* that are open */
    int nics;    /* that were made and not closed */
    int cleanups;
    uint32_t version;
    uint64_t flags;
    int had_hints;
    const void* nic_in_hints;
    uint32_t tclass_in_hints;
    size_t key_in_hints;
    size_t inject_in_hints;
    int result_of_host;
    int number;
};
