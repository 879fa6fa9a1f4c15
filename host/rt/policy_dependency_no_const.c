/*
 * no-const: every argument counts as written, an array given twice counts once, and a use is active until the next
 * computation takes the array. Every candidate gets an edge.
 */
#include "host/rt/policies.h"

static bool has_object(const struct dag_arg *args, unsigned nargs, const struct dag_object *object)
{
    for (unsigned i = 0; i < nargs; i++) {
        if (args[i].object == object)
            return true;
    }
    return false;
}

static unsigned active(struct dag_arg *args, unsigned nargs)
{
    unsigned n = 0;

    for (unsigned i = 0; i < nargs; i++) {
        if (has_object(args, n, args[i].object))
            continue;
        args[n].object = args[i].object;
        args[n++].read_only = false;
    }
    return n;
}

static int conflict(const struct dag_arg *args, unsigned nargs, unsigned from, bool live_read_only)
{
    (void)args, (void)nargs, (void)live_read_only;
    return (int)from;
}

static bool keeps(const struct dag_arg *newer)
{
    (void)newer;
    return false;
}

const struct dependency_policy dependency_no_const = {active, conflict, keeps, NULL};
