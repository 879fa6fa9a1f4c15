/* Streams: queues of the machine, what is known to be unfinished on them, and which are free. */
#ifndef HD_HOST_RT_STREAM_H
#define HD_HOST_RT_STREAM_H

#include "host/rt/policies.h"

struct hd_stream {
    struct list all;      /* in pool->all */
    struct list recent;   /* in pool->recent, if automatic */
    struct list free;     /* in pool->free, or in pool->emptied */
    struct list active;   /* computations that are not known to have finished, in order */
    struct list attached; /* arrays attached to it */
    struct list ahead;    /* in pool->ahead */
    hd_runtime *rt;
    uint64_t last_ticket;   /* of the last command put into it; 0: none yet */
    uint64_t synced_ticket; /* the host has waited for that one */
    uint32_t number;        /* counted in order of creation, 0 is the default stream; never again */
    uint32_t queue;
    bool automatic; /* made by the scheduler */
    bool freed;     /* by the program; kept so that a late use is found */
};

struct stream_pool {
    struct list all;    /* in order of creation */
    struct list recent; /* automatic streams, the one used longest ago first */
    /* Automatic streams without work: a list or a heap, as the new-stream policy keeps them. There is room for all of them. */
    struct list free;
    VEC(struct hd_stream *) by_number;
    struct list emptied; /* automatic streams that have lost their last computation and are not yet released */
    struct list ahead; /* streams with commands that the default stream has not been told to wait for */
    struct hd_stream *standard; /* the default stream */
    uint32_t automatic;         /* streams that the scheduler has */
    uint32_t next_number;
    size_t nactive; /* computations on all streams that are not known to have finished */
    VEC(uint32_t) number_of_queue;
};

void streams_init(struct stream_pool *pool);
enum hd_status streams_start(hd_runtime *rt, struct hd_error *err);
/* Finishes what is left in the graph and frees all streams. */
void streams_free(hd_runtime *rt);

enum hd_status stream_make(hd_runtime *rt, bool automatic, struct hd_stream **out,
                           struct hd_error *err);
/* Frees a stream without work. */
void stream_destroy(struct hd_stream *s);

/* Puts a command at the end of a stream, at the host's time and after what the rule of the default stream asks for. */
enum hd_status stream_submit(struct hd_stream *s, const struct sim_cmd *cmd, uint64_t *ticket,
                             struct hd_error *err);
enum hd_status stream_submit_wait(struct hd_stream *s, uint64_t ticket, struct hd_error *err);

/* The same at the machine's time and without the rule: for what belongs to a command that has just been put there so. */
enum hd_status stream_put(struct hd_stream *s, const struct sim_cmd *cmd, uint64_t *ticket,
                          struct hd_error *err);
enum hd_status stream_put_wait(struct hd_stream *s, uint64_t awaited, struct hd_error *err);
/* serial-async: the array was given to a command on a stream of the program's own. */
void stream_used_by_hand(struct hd_stream *s, hd_array *a, uint64_t ticket);

/* The stream of a new computation: inherited, free, new, or the one used longest ago; v goes into its active set. */
enum hd_status stream_assign(hd_runtime *rt, struct dag_vertex *v, struct hd_stream *chosen,
                             struct hd_error *err);

/* Whether the stream has work that the host has not waited for. */
bool stream_unsynced(const struct hd_stream *s);
/* The same of what is there up to a ticket, and of any stream. */
bool stream_unsynced_at(const struct hd_stream *s, uint64_t ticket);
bool streams_unsynced(const hd_runtime *rt);
/* The host waits for all that is on the stream; its computations and their ancestors have finished then. */
enum hd_status stream_sync(struct hd_stream *s, struct hd_error *err);
/* The same for what was put into it up to a ticket. */
enum hd_status stream_sync_to(struct hd_stream *s, uint64_t ticket, struct hd_error *err);
/* The host waits for everything. A wait that no call asked for costs nothing beside its time. */
enum hd_status streams_drain(hd_runtime *rt, struct hd_error *err);
enum hd_status streams_sync_all(hd_runtime *rt, struct hd_error *err);

/* NULL is the default stream; HD_BAD_INPUT if the stream was freed or is another runtime's. */
enum hd_status stream_given(hd_runtime *rt, hd_stream *s, hd_stream **out, struct hd_error *err);

/* dag.finished of the runtime's graph: the computation leaves its stream. */
void stream_left(void *rt, struct dag_vertex *v);

#endif
