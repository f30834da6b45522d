/* Entry `n` of a list; a shorter list cannot show anything. */
static struct fi_info* entry(struct fi_info* answer, int n) {
    while (answer && n-- > 0) answer = answer->next;
    if (!answer) {
        puts("cannot tell: the answer has too few entries");
        exit(77);
    }
    return answer;
}
