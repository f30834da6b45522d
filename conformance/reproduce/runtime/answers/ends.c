/* Whether a list ends: one that leads back into itself is found by a second, slower walker. */
static int ends(const struct fi_info* fast) {
    const struct fi_info* slow = fast;

    for (; fast && fast->next; slow = slow->next) {
        fast = fast->next->next;
        if (!fast || fast != slow->next) continue;
        puts("broken: promised: the list ends; seen: it leads back into itself");
        return 0;
    }
    return 1;
}
