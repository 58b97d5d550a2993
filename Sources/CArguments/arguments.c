#include "arguments.h"

static int count;
static char **values;

// glibc gives every constructor what it gives main(), in dynamic and in static executables.
__attribute__((constructor)) static void keep(int argc, char **argv) {
    count = argc;
    values = argv;
}

int carguments_count(void) { return count; }

char *const *carguments_values(void) { return values; }
