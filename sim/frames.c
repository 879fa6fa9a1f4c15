#include "sim/frames.h"

void frames_init(struct frames *f)
{
    *f = (struct frames){.free = FRAME_NONE, .oldest = FRAME_NONE, .newest = FRAME_NONE};
}

void frames_free(struct frames *f)
{
    vec_free(&f->at);
    frames_init(f);
}

static void append(struct frames *f, uint32_t i)
{
    f->at.at[i].older = f->newest;
    f->at.at[i].newer = FRAME_NONE;
    if (f->newest == FRAME_NONE)
        f->oldest = i;
    else
        f->at.at[f->newest].newer = i;
    f->newest = i;
}

static void take_out(struct frames *f, uint32_t i)
{
    struct frame *fr = &f->at.at[i];

    if (fr->older == FRAME_NONE)
        f->oldest = fr->newer;
    else
        f->at.at[fr->older].newer = fr->newer;
    if (fr->newer == FRAME_NONE)
        f->newest = fr->older;
    else
        f->at.at[fr->newer].older = fr->older;
}

uint32_t frames_add(struct frames *f, uint32_t array, uint32_t page)
{
    uint32_t i = f->free;

    if (i != FRAME_NONE)
        f->free = f->at.at[i].newer;
    else if (vec_push(&f->at, (struct frame){0}))
        i = (uint32_t)f->at.len - 1;
    else
        return FRAME_NONE;
    f->at.at[i].array = array;
    f->at.at[i].page = page;
    f->count++;
    append(f, i);
    return i;
}

void frames_remove(struct frames *f, uint32_t frame)
{
    take_out(f, frame);
    f->count--;
    f->at.at[frame].newer = f->free;
    f->free = frame;
}

void frames_use(struct frames *f, uint32_t frame)
{
    if (f->newest == frame)
        return;
    take_out(f, frame);
    append(f, frame);
}
