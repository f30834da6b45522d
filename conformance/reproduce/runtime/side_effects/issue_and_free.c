static int issue_and_free(void) {
    struct fi_info* answer = NULL;
    const int ret = query(&answer);

    if (ret == 0) fi_freeinfo(answer);
    return ret;
}
