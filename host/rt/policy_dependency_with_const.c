/*
 * with-const: readers do not depend on each other. A live use stays active when the new computation only reads the
 * array, so that further readers become siblings; a writer that all readers wait for is not waited for again.
 */
#include "host/rt/policies.h"

static unsigned active(struct dag_arg *args, unsigned nargs)
{
    (void)args;
    return nargs;
}

static int conflict(const struct dag_arg *args, unsigned nargs, unsigned from, bool live_read_only)
{
    for (unsigned i = from; i < nargs; i++) {
        if (args[i].object == args[from].object && !(live_read_only && args[i].read_only))
            return (int)i;
    }
    return -1;
}

static bool keeps(const struct dag_arg *newer)
{
    return newer->read_only;
}

const struct dependency_policy dependency_with_const = {active, conflict, keeps, dag_reduce};
