/* What the program does to a side, one thing at a time. */
enum step { ENTRY, OPEN, CONNECT, AWAIT, COVER, REGISTER, POST, READ_QUEUE, COUNT, CLOSE, CLOSE_QUEUES, CLOSE_DOMAIN };

/* Whether its fabric and domain are open. */
static int open_entry(struct side* s) {
    if (query(&opened.info) != 0 || !opened.info) {
        puts("cannot tell: fi_getinfo has no such entry here");
        exit(77);
    }
    add_defaults(opened.info, s->setup);
    opened.next_key = 1;
    return works(s, fi_fabric(opened.info->fabric_attr, &opened.fabric, NULL), "fi_fabric") &&
           works(s, fi_domain(opened.fabric, opened.info, &opened.domain, NULL), "fi_domain");
}

/* In the process of the side. */
static long perform(struct side* s, enum step step, uint64_t n) {
    works(s, 0, NULL);
    switch (step) {
        case ENTRY:
            open_entry(s);
            break;
        case OPEN:
            open_side(s, (int)n);
            break;
        case CONNECT:
            connect_side(s, s == A ? B->name : A->name);
            break;
        case AWAIT:
            poll_connection(s);
            break;
        case COVER:
            cover(s, n);
            break;
        case REGISTER:
            region_of(s, n);
            break;
        case POST:
            return shared->post[n](s, &shared->operation[n], &shared->arguments[n]);
        case READ_QUEUE:
            return read_queue(s, (int)n, shared->entries);
        case COUNT:
            read_counters(s, shared->counters);
            break;
        case CLOSE:
            close_side(s);
            break;
        case CLOSE_QUEUES:
            close_queues(s);
            if (s->request) fi_freeinfo(s->request);
            break;
        case CLOSE_DOMAIN:
            fi_close(&opened.domain->fid);
            fi_close(&opened.fabric->fid);
            break;
    }
    return s->outcome.ret;
}
