/* Bytes of its own for each operation. */
static void fill(unsigned char* to, size_t length, int operation) {
    size_t i;

    for (i = 0; i < length; i++)
        to[i] = i == 0 ? (unsigned char)(0x40 + operation)
                       : (unsigned char)(i * 7 + (i >> 8) * 13 + (size_t)operation * 31);
}
