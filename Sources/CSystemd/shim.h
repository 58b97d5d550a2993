#ifndef ALERTQ_CSYSTEMD_SHIM_H
#define ALERTQ_CSYSTEMD_SHIM_H

#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

#endif
