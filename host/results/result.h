/* The result object of a run: the tables of host/results/schema.c say what it holds. */
#ifndef HD_HOST_RESULTS_RESULT_H
#define HD_HOST_RESULTS_RESULT_H

#include "host/results/critical.h"
#include "host/results/fields.h"
#include "host/results/profile.h"
#include "host/results/record.h"

#define HD_VERSION "0.1.0"

enum result_status { RESULT_OK, RESULT_CHECK_FAILED, RESULT_FAILED, RESULT_STOPPED };

struct result_error {
    const char *code, *place, *message, *hint;
    const char *dump; /* masks and registers of the wavefront that failed, or NULL */
};

/* What a run cost on this machine: the only part that differs between two equal runs. */
struct result_simulator {
    const char *version;
    const char *lanes; /* which build of the lane functions ran */
    double wall_s;
    uint64_t wave_instr;
    double wave_instr_per_s;
    uint64_t scheduled; /* calls of the scheduler */
    double schedule_s;
    uint64_t peak_rss_bytes;
};

/* Which point of a sweep a run is. */
struct result_point {
    const char *id;
    uint64_t index;
    const char *axes_json;
    uint32_t exit_status;
};

/* What the caller knows of a run. Texts are the caller's and must live until the result is written. */
struct result_run {
    const char *workload, *args_json, *config_name, *config_json;
    uint64_t seed, host_time_ps, array_bytes;
    bool timing, unsafe;
    enum hd_status status;
    struct result_error error; /* of a run that failed or was stopped */
    struct result_simulator simulator;
    struct critical_rules rules;
};

/* A step of the critical path, as it is written. */
struct result_step {
    const char *what, *name, *resource, *bounded_by;
    uint64_t id, start_ps, end_ps;
};

/* An edge with the list of its arrays. */
struct result_edge {
    struct record_edge row;
    struct field_rows arrays;
};

struct result_cf {
    uint64_t branches, branches_taken, divergent_branches, gotos, joins, hops, skipped_instr,
        mask_ops;
    double lane_utilisation;
};

struct explain;

struct result {
    const char *schema, *workload, *args_json, *config_name, *config_json;
    uint64_t seed, host_time_ps, array_bytes, contention_free_ps;
    bool timing, unsafe;
    uint32_t detail, status;
    struct record_cuts truncated;
    const struct result_error *error;
    struct record_iteration chosen;
    struct overlap fig11;
    struct result_cf cf;
    struct field_rows regions, critical_path, kernels, transfers, nodes, edges, check_list;
    uint64_t checks_passed, checks_failed;
    const struct result_point *point; /* NULL outside a sweep */
    const struct profile *profile;    /* NULL: none was asked for */
    const struct explain *explain;    /* the same */
    struct result_simulator simulator;

    struct record *record;
    struct timeline timeline;    /* of `chosen`; empty if it is too long to analyse */
    struct critical_step *steps; /* all of them */
    size_t nsteps;               /* that are written */
};

extern const struct field_table result_fields;
/* Tables of the rows of its lists. */
extern const struct field_table result_region_fields, result_step_fields, result_kernel_fields,
    result_transfer_fields, result_node_fields, result_edge_fields, result_check_fields,
    result_point_fields, result_profile_kernel_fields, result_line_fields;
extern const char *const result_status_names[], *const result_transfer_names[];
/* The key of a stall reason, an enum sim_stall. */
const char *result_stall_name(unsigned reason);

/*
 * Works out the result of a closed record. *out (result_free) refers to the record and to the texts of run; it
 * must stay where it is. HD_BAD_INPUT when memory is short.
 */
enum hd_status result_build(struct result *out, struct record *record, const struct result_run *run,
                            struct hd_error *err);
void result_free(struct result *r);
/* Writes "point" and its value, as a member of the open object. */
void result_write_point(struct json_writer *w, const struct result_point *point);
/* Writes the object. */
void result_write(struct json_writer *w, const struct result *r);
/* The JSON Schema of the object (draft 2020-12). */
void result_schema(struct json_writer *w);
/* What a step of the critical path waited for: a part of the device, the link, or the host. */
const char *result_bounded_by(const struct critical_step *step);
/* Sets the writers of the lists (host/results/rows.c). */
void result_set_rows(struct result *r);

#endif
