#ifndef ALERTQ_SLOW_DISK_H
#define ALERTQ_SLOW_DISK_H

// Delays every later fsync(2) and fdatasync(2) of this process.
//
// In a program that links this file, these two functions replace those of the C library, for
// SQLite's calls as well: a program's own symbols come before those of its libraries (ld.so(8)).
void slow_disk_delay(unsigned microseconds);

#endif
