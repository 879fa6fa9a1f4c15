/* disjoint: the stream of the first parent, in edge order, whose stream no other child has inherited. */
#include "host/rt/stream.h"

static struct hd_stream *inherit(struct dag_vertex *v)
{
    for (uint32_t i = 0; i < v->nedges; i++) {
        struct dag_vertex *parent = v->parents[i];

        if (parent->stream->automatic && !parent->inherited) {
            parent->inherited = true;
            return parent->stream;
        }
    }
    return NULL;
}

const struct parent_stream_policy parent_stream_disjoint = {inherit};
