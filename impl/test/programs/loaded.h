/* For plain C programs of the tests: which libfabric runs in this process. */
#pragma once

#include <stdio.h>
#include <string.h>

/* 1 if there is a mapping of a file called libfabric* and all such files lie in the folder, else 0 and a line on
 * stderr. */
static int loaded_from(const char* folder) {
    char line[4096];
    const size_t length = strlen(folder);
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    if (!maps) return 0;
    while (fgets(line, sizeof line, maps)) {
        const char* path = strchr(line, '/');
        const char* name = path ? strrchr(path, '/') : NULL;
        if (!name || strncmp(name, "/libfabric", 10) != 0) continue;
        found = (size_t)(name - path) == length && strncmp(path, folder, length) == 0;
        if (!found) break;
    }
    fclose(maps);
    if (!found) fprintf(stderr, "not loaded from %s: %s", folder, line);
    return found;
}
