/* Each object begins with its fid. */
static void close_object(void* object) {
    if (object) fi_close(object);
}

static void close_all(void) {
    struct side* s;
    int i;

    for (s = &A; s; s = s == &A ? &B : NULL) {
        if (!(info->domain_attr->mr_mode & FI_MR_ENDPOINT)) close_object(s->ep);
        for (i = 0; i < s->region_count; i++) close_object(s->regions[i]);
        if (info->domain_attr->mr_mode & FI_MR_ENDPOINT) close_object(s->ep);
    }
    close_object(pep);
    for (s = &A; s; s = s == &A ? &B : NULL) {
        close_object(s->queue[0]);
        close_object(s->queue[1]);
        for (i = 0; i < 6; i++) close_object(s->counter[i]);
        close_object(s->av);
        close_object(s->eq);
    }
    close_object(listening);
    close_object(domain);
    close_object(fabric);
}
