/* The work-group's token: who may run alone, and who must stop for that. For the files of tm/ only. */
#ifndef HD_TM_TOKEN_H
#define HD_TM_TOKEN_H

#include "tm/block.h"

/* A wavefront without an attempt asks for the token; it is granted at once if it is free. */
void tm_token_ask(struct tm_wg *wg, unsigned wf, struct tm_out *out);

/* The holder gives the token back: the next in the queue gets it, or all that wait are woken. */
void tm_token_release(struct tm_wg *wg, struct tm_out *out);

/* Whether the wavefront may start an attempt; if not it is asleep until a wake. */
bool tm_token_admits(struct tm_wg *wg, unsigned wf);

/* A wavefront's attempt has ended: the holder is woken if it was the last to wait for. */
void tm_token_quiet(struct tm_wg *wg, struct tm_out *out);

#endif
