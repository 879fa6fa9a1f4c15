/* Runs Lua snippets and keeps what they printed, checked and failed with. */
#ifndef HD_TESTS_LUA_RIG_H
#define HD_TESTS_LUA_RIG_H

#include "host/lua/script.h"

struct rig {
    char folder[64]; /* of the program and its files; removed by rig_free */
    struct hd_options gpu;
    struct hd_script_options o;
    struct hd_script_info info;
    struct hd_error err;
    enum hd_status status;
    struct text log;     /* printed lines */
    struct text checks;  /* "name passed" or "name failed" lines */
    struct text regions; /* "name iteration" lines */
    uint64_t host_ps;    /* the host's clock at the end */
};

/* A small GPU, limits of 32 MiB and 4 million instructions, and an empty folder. */
void rig_init(struct rig *r);
void rig_free(struct rig *r);
/* Makes a file of the folder. */
void rig_file(struct rig *r, const char *name, const char *text);
/* "folder/name", valid until the next call. */
const char *rig_path(const struct rig *r, const char *name);
/* Runs the text as main.lua on a new runtime; returns rig.status. */
enum hd_status rig_run(struct rig *r, const char *program);

/* In one: the program runs to its end and prints just this. */
void expect_log(const char *program, const char *log);
/* In one: the program ends in this status and line, with a message that contains the text.
   Line 0: anywhere. */
void expect_error(const char *program, enum hd_status status, int line, const char *text);

#endif
