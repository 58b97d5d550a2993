#ifndef ALERTQ_SLOW_DISK_H
#define ALERTQ_SLOW_DISK_H

// Makes every later fsync(2) and fdatasync(2) of this process take longer by a time.
//
// The program that links this file has these two functions in the place of the C library's, for
// SQLite's calls as well: a program's own symbols come before those of its libraries (ld.so(8)).
void slow_disk_delay(unsigned microseconds);

#endif
