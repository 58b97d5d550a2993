#ifndef ALERTQ_CARGUMENTS_H
#define ALERTQ_CARGUMENTS_H

// The arguments of this process, as main() gets them.
//
// Swift's CommandLine reads /proc/self/cmdline instead, and is empty where that can't be read: in a
// chroot without /proc, or under a preloaded library that intercepts the reading.
int carguments_count(void);
char *const *carguments_values(void);

#endif
