static uint64_t remote(const struct side* s, uint64_t offset) {
    return (info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC) ? (uint64_t)(uintptr_t)s->target : 0) + offset;
}
