static void open_side(struct side* s, struct fi_info* with) {
    struct fi_cq_attr cq = {.format = FORMAT, .wait_obj = FI_WAIT_NONE, .size = QUEUE_SIZE};
    struct fi_av_attr av = {.type = with->domain_attr->av_type ? with->domain_attr->av_type : FI_AV_MAP};

    s->memory = mmap(NULL, 64u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    s->target = mmap(NULL, 2 * REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(fi_endpoint(domain, with, &s->ep, NULL), "fi_endpoint");
    need(fi_cq_open(domain, &cq, &s->queue[0], NULL), "fi_cq_open");
    need(fi_cq_open(domain, &cq, &s->queue[1], NULL), "fi_cq_open");
    need(fi_ep_bind(s->ep, &s->queue[0]->fid, FI_RECV | RECEIVE_SELECTIVE), "fi_ep_bind");
    need(fi_ep_bind(s->ep, &s->queue[1]->fid, FI_TRANSMIT | TRANSMIT_SELECTIVE), "fi_ep_bind");
    if (COUNTERS) {
        static const uint64_t kinds[] = {FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
        struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
        int i;

        for (i = 0; i < (info->caps & FI_RMA_EVENT ? 6 : 4); i++) {
            if (!(info->caps & (i < 2 ? FI_MSG | FI_TAGGED : FI_RMA | FI_ATOMIC))) continue;
            need(fi_cntr_open(domain, &attr, &s->counter[i], NULL), "fi_cntr_open");
            need(fi_ep_bind(s->ep, &s->counter[i]->fid, kinds[i]), "fi_ep_bind");
        }
    }
    if (MULTI_RECV) {
        size_t least = MULTI_RECV;

        need(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), "fi_setopt");
    }
    if (with->ep_attr->type == FI_EP_MSG) {
        need(fi_ep_bind(s->ep, &s->eq->fid, 0), "fi_ep_bind");
    } else {
        need(fi_av_open(domain, &av, &s->av, NULL), "fi_av_open");
        need(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
    }
    need(fi_enable(s->ep), "fi_enable");
}
