/* Opens fabric and domain of the first entry with a name in it that nobody has: that must fail. */
static int open_nobody(void) {
    char nobody[] = "nobody", *name = list->NAME;
    int ret;

    list->NAME = nobody;
    ret = open_and_close();
    list->NAME = name;
    return ret;
}
