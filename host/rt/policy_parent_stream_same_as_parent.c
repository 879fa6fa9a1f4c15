/* same-as-parent: the stream of the first parent in edge order, unless the program chose that stream. */
#include "host/rt/stream.h"

static struct hd_stream *inherit(struct dag_vertex *v)
{
    if (!v->nedges || !v->parents[0]->stream->automatic)
        return NULL;
    return v->parents[0]->stream;
}

const struct parent_stream_policy parent_stream_same_as_parent = {inherit};
