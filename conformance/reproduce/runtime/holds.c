/* A message with these bytes is in the buffer of an operation. */
static int holds(int operation, const unsigned char* bytes, size_t length) {
    int i;

    for (i = 0; i < part_count; i++)
        if (parts[i].operation == operation && parts[i].len == length && memcmp(parts[i].at, bytes, length) == 0)
            return 1;
    return 0;
}
