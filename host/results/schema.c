/* The only list of the keys of a result: their order, types and meaning. */
#include "host/results/explain.h"
#include "host/results/result.h"
#include "host/results/schema_rows.h"

const char *const result_status_names[] = {"ok", "check_failed", "failed", "stopped", NULL};
const char *const result_transfer_names[] = {"copy", "prefetch", "fault", "evict", "migrate", NULL};
static const char *const dir_names[] = {"h2d", "d2h", NULL};
static const char *const node_names[] = {"kernel", "host_read", "host_write", NULL};
static const char *const edge_names[] = {"raw", "war", "waw", "order", NULL};

/* ---- small parts --------------------------------------------------------------------------- */

static const struct field cut_rows[] = {
    KEY(U64, struct record_cuts, regions, "regions", "rows of regions[] left out"),
    KEY(U64, struct record_cuts, critical_path, "critical_path",
        "last steps of critical_path[] left out"),
    KEY(U64, struct record_cuts, kernels, "kernels", "rows of kernels[] left out"),
    KEY(U64, struct record_cuts, transfers, "transfers", "rows of transfers[] left out"),
    KEY(U64, struct record_cuts, nodes, "nodes", "rows of dag.nodes[] left out"),
    KEY(U64, struct record_cuts, edges, "edges", "rows of dag.edges[] left out"),
    KEY(U64, struct record_cuts, checks, "checks", "rows of checks.list[] left out"),
    KEY(U64, struct record_cuts, analysed, "analysed",
        "kernels and transfers of iterations with more than 1048576 of them, whose overlap, busy "
        "times and critical path are not worked out"),
};
static TABLE(cut_fields, cut_rows, true);

static const struct field error_rows[] = {
    KEY(TEXT, struct result_error, code, "code", "stable name of the error"),
    KEY(TEXT, struct result_error, place, "place",
        "file:line:column, or kernel, work-group, wavefront, lane and source line; may be empty"),
    KEY(TEXT, struct result_error, message, "message", "what is wrong, in one sentence"),
    KEY(TEXT, struct result_error, hint, "hint", "what to do about it; may be empty"),
    NULLABLE(TEXT, struct result_error, dump, "dump",
             "masks and registers of the wavefront that failed"),
};
static TABLE(error_fields, error_rows, false);

static const struct field overlap_rows[] = {
    KEY(F64, struct overlap, ct, "ct", "share of kernel time beside a transfer"),
    KEY(F64, struct overlap, tc, "tc", "share of transfer time beside a kernel"),
    KEY(F64, struct overlap, cc, "cc", "share of kernel time beside another kernel"),
    KEY(F64, struct overlap, tot, "tot", "share of kernel and transfer time beside anything else"),
};
static TABLE(overlap_fields, overlap_rows, true);

#define STALL(index, key, doc)                                                                     \
    [index] = {key, FIELD_U64, false, (index) * sizeof(uint64_t), doc, NULL, NULL}
static const struct field stall_rows[] = {
    STALL(SIM_STALL_ISSUED, "issued",
          "wavefront-cycles that took an issue cycle: wave_instr, less one of each pair, and "
          "tm.idle_issues"),
    STALL(SIM_STALL_SCOREBOARD, "scoreboard",
          "waiting for a result of the compute unit, or for a branch"),
    STALL(SIM_STALL_BARRIER, "barrier", "waiting at a barrier"),
    STALL(SIM_STALL_LDS, "lds_bank", "waiting for local memory: the result, or its banks"),
    STALL(SIM_STALL_MEMORY, "memory", "waiting for global memory"),
    STALL(SIM_STALL_MSHR, "mshr", "the load-store unit is held by a full MSHR file"),
    STALL(SIM_STALL_ISSUE, "issue", "ready, but the issue port or the function unit was taken"),
    STALL(SIM_STALL_TX, "tx", "waiting for a transaction"),
    STALL(SIM_STALL_FETCH, "fetch", "waiting for instructions"),
};
static TABLE(stall_fields, stall_rows, true);

const char *result_stall_name(unsigned reason)
{
    return stall_rows[reason].key;
}

/* ---- metrics ------------------------------------------------------------------------------- */

static const struct field metric_rows[] = {
    KEY(U64, struct metrics, kernels, "kernels", "kernels that ran"),
    KEY(U64, struct metrics, transfers, "transfers", "transfers that ran"),
    KEY(U64, struct metrics, h2d_bytes, "h2d_bytes", "bytes moved to the device"),
    KEY(U64, struct metrics, d2h_bytes, "d2h_bytes", "bytes moved to the host"),
    KEY(NS, struct metrics, busy.kernel_ps, "kernel_busy_ns",
        "union of the kernels' intervals; rates are over this time"),
    KEY(NS, struct metrics, busy.h2d_ps, "h2d_busy_ns",
        "union of the intervals of transfers to the device"),
    KEY(NS, struct metrics, busy.d2h_ps, "d2h_busy_ns",
        "union of the intervals of transfers to the host"),
    KEY(NS, struct metrics, busy.link_ps, "link_busy_ns", "union of the intervals of all transfers"),
    KEY(NS, struct metrics, busy.any_ps, "device_busy_ns",
        "union of the intervals of kernels and transfers together"),
    KEY(F64, struct metrics, ipc, "ipc", "wavefront instructions of the device per core cycle"),
    KEY(F64, struct metrics, wave_ipc, "wave_ipc",
        "wavefront instructions per compute unit and core cycle"),
    KEY(F64, struct metrics, issue_utilisation, "issue_utilisation",
        "share of all issue slots that issued; a core cycle has what SIMD units, issue width and "
        "dual issue allow"),
    KEY(F64, struct metrics, lane_utilisation, "lane_utilisation",
        "active lanes over lanes of issued instructions"),
    KEY(F64, struct metrics, dram_gbps, "dram_gbps", "10^9 bytes per second to and from DRAM"),
    KEY(F64, struct metrics, l2_gbps, "l2_gbps", "10^9 bytes per second between L1 and L2"),
    KEY(F64, struct metrics, gflops32, "gflops32",
        "10^9 f32 operations per second: add + mul + 2 fma, active lanes"),
    KEY(F64, struct metrics, gflops64, "gflops64",
        "10^9 f64 operations per second: add + mul + 2 fma, active lanes"),
    KEY(F64, struct metrics, l1_hit_rate, "l1_hit_rate",
        "share of the lines looked up by loads that were in L1"),
    KEY(F64, struct metrics, l2_hit_rate, "l2_hit_rate",
        "share of the sectors asked of L2 that were there"),
    KEY(U64, struct metrics, sums.page_faults, "page_faults",
        "pages that kernels touched first where they were not there"),
    KEY(U64, struct metrics, sums.fault_bytes, "fault_bytes",
        "bytes moved for these, pages of the prefetch tree too"),
    KEY(U64, struct metrics, um.fault_batches, "fault_batches",
        "batches that the fault handler read"),
    KEY(NS, struct metrics, um.handler_busy_ps, "fault_handler_busy_ns",
        "time for which the fault handler had a batch in hand"),
    KEY(U64, struct metrics, um.evictions, "evictions",
        "pages that left the device to make room, without page faults too"),
    KEY(U64, struct metrics, um.write_backs, "write_backs",
        "dirty ones among these, whose bytes moved"),
    PART(OBJECT, stall_fields, struct metrics, sums.stall_cycles, "stalls",
         "wavefront-cycles by what the wavefront did; they add up to residency"),
};
static TABLE(metric_fields, metric_rows, false);

#define CF struct result_cf
static const struct field cf_rows[] = {
    KEY(U64, CF, branches, "branches", "scalar branches issued"),
    KEY(U64, CF, branches_taken, "branches_taken", "scalar branches taken"),
    KEY(U64, CF, divergent_branches, "divergent_branches",
        "gotos whose lanes went different ways; none in the other forms"),
    KEY(U64, CF, gotos, "gotos", "goto instructions issued, backward ones too"),
    KEY(U64, CF, joins, "joins", "join instructions issued"),
    KEY(U64, CF, hops, "hops", "joins that woke no lane and passed on to their JIP"),
    KEY(U64, CF, skipped_instr, "skipped_instr", "instructions jumped over forwards"),
    KEY(F64, CF, lane_utilisation, "lane_utilisation",
        "active lanes over lanes of issued instructions"),
    KEY(U64, CF, mask_ops, "mask_ops", "operations on lane masks"),
};
static TABLE(cf_fields, cf_rows, false);

#define TM struct sim_counters
#define TXC(index, key, doc) KEY(U64, TM, tx_cycles[index], key, doc)
static const struct field tm_cycle_rows[] = {
    TXC(SIM_TX_USEFUL, "useful", "in attempts, the share of their lanes that committed"),
    TXC(SIM_TX_WASTED, "wasted",
        "in attempts, the share of their lanes that aborted, and attempts stopped for another "
        "wavefront"),
    TXC(SIM_TX_WAVEFRONT_SERIAL, "wavefront_serial", "in attempts serialised within their wavefront"),
    TXC(SIM_TX_WORKGROUP_SERIAL, "workgroup_serial",
        "in attempts that had the work-group for themselves"),
    TXC(SIM_TX_QUIESCE, "quiesce", "waiting at tx.begin for another wavefront"),
    TXC(SIM_TX_OTHER, "other", "from one attempt to the next"),
};
static TABLE(tm_cycle_fields, tm_cycle_rows, true);

#define TXA(index, key) KEY(U64, TM, tx_attempts[index], key, "transactions of so many attempts")
static const struct field tm_attempt_rows[] = {
    TXA(0, "1"),    TXA(1, "2"),     TXA(2, "3-4"),   TXA(3, "5-8"),
    TXA(4, "9-16"), TXA(5, "17-32"), TXA(6, "33-64"), TXA(7, "more"),
};
static TABLE(tm_attempt_fields, tm_attempt_rows, true);

static const struct field tm_rows[] = {
    KEY(U64, TM, tx_transactions, "transactions", "entered by wavefronts"),
    KEY(U64, TM, tx_begins, "begins", "attempts begun by wavefronts"),
    KEY(U64, TM, tx_commits, "commits", "lanes that committed"),
    KEY(U64, TM, tx_aborts, "aborts", "lanes that aborted"),
    KEY(U64, TM, tx_self_aborts, "self_aborts",
        "attempts stopped for a wavefront that needs the work-group for itself"),
    KEY(U64, TM, tx_idle_issues, "idle_issues",
        "issue cycles without an instruction: attempts stopped, and registers saved"),
    KEY(U64, TM, tx_accesses, "accesses", "local accesses of wavefronts in transactions"),
    KEY(U64, TM, tx_true_conflicts, "true_conflicts", "conflicts on one word, with a write"),
    KEY(U64, TM, tx_false_conflicts, "false_conflicts",
        "conflicts that the detector saw and no word had"),
    KEY(U64, TM, tx_read_read_conflicts, "read_read_conflicts", "conflicts of two reads"),
    KEY(U64, TM, tx_wave_serial, "wavefront_serialisations",
        "attempts serialised within their wavefront"),
    KEY(U64, TM, tx_group_serial, "workgroup_serialisations",
        "attempts that had the work-group for themselves"),
    KEY(U64, TM, tx_races, "races",
        "lanes outside transactions that touched a word of one, with weak isolation"),
    SELF(tm_attempt_fields, "attempts", "transactions by the attempts that they took"),
    SELF(tm_cycle_fields, "cycles", "wavefront-cycles in transactions; they add up to residency"),
    KEY(U64, TM, tx_residency_cycles, "residency_cycles",
        "wavefront-cycles from the first tx.begin to the last tx.commit of transactions"),
};
static TABLE(tm_fields, tm_rows, false);

/* ---- rows ---------------------------------------------------------------------------------- */

#define IT struct record_iteration
static const struct field region_rows[] = {
    KEY(TEXT, IT, name, "name", "name of the region"),
    KEY(U32, IT, iteration, "iteration", "timed iteration, from 0"),
    KEY(NS, IT, time_ps, "time_ns", "from the begin to the end of the region, on the host"),
    KEY(NS, IT, device_time_ps, "device_time_ns",
        "from the first kernel or transfer scheduled to the last one finished"),
    PART(OBJECT, overlap_fields, IT, overlap, "overlap", "as overlap"),
    PART(OBJECT, metric_fields, IT, metrics, "metrics", "as metrics"),
};
TABLE(result_region_fields, region_rows, false);

static const struct field step_rows[] = {
    KEY(TEXT, struct result_step, what, "what",
        "kernel or kind of transfer; host: the host's own time; launch: the device's front end; "
        "wait: ahead of a transfer"),
    NULLABLE(U64, struct result_step, id, "id", "id in kernels[] or transfers[]; null for the host"),
    NULLABLE(TEXT, struct result_step, name, "name", "kernel or array"),
    KEY(TEXT, struct result_step, resource, "resource", "host, stream N, h2d, d2h or fault handler"),
    KEY(TEXT, struct result_step, bounded_by, "bounded_by",
        "of a kernel the part of the device that it needs longest, if that is busy for 60 % of the "
        "step or more: dram, l2, l1, fp32, fp64, special, local memory or issue; else fault "
        "handler "
        "or link to device while faults of its pages are served and moved, else latency. Of the "
        "others link to device, link to host, link wait, fault handler, launch or host"),
    KEY(NS, struct result_step, start_ps, "start_ns", "begins where the step before ended"),
    KEY(NS, struct result_step, end_ps, "end_ns", "end of the step"),
};
TABLE(result_step_fields, step_rows, true);

#define K struct record_kernel
#define KC(member, key, doc) KEY(U64, K, counters.member, key, doc)
static const struct field kernel_rows[] = {
    KEY(U64, K, id, "id", "node of the DAG, counted from 0 in order of the calls"),
    KEY(TEXT, K, name, "name", "name of the kernel"),
    NULLABLE(TEXT, K, region_name, "region", "region it ran in; null outside all"),
    NULLABLE(U32, K, iteration, "iteration", "iteration of the region"),
    KEY(U32, K, stream, "stream", "stream it ran in"),
    KEY(U32, K, device, "device", "device it ran on"),
    KEY(U32X3, K, grid, "grid", "work-groups in x, y, z"),
    KEY(U32X3, K, block, "block", "work-items of a work-group in x, y, z"),
    KEY(NS, K, queued_ps, "queued_ns", "handed to the device"),
    KEY(NS, K, start_ps, "start_ns", "first work-group placed"),
    KEY(NS, K, end_ps, "end_ns", "last effect done"),
    KC(wave_instr, "wave_instr", "wavefront instructions issued"),
    KC(lane_instr, "lane_instr", "their active lanes, summed"),
    KC(flop32, "flop32", "f32 operations: add + mul + 2 fma, active lanes"),
    KC(flop64, "flop64", "f64 operations: add + mul + 2 fma, active lanes"),
    KEY(U64, K, dram_bytes, "dram_bytes", "bytes read from and written to DRAM"),
    KC(l2_bytes, "l2_bytes", "bytes between L1 and L2"),
    KC(l1_requests, "l1_requests", "lines looked up in L1 by loads"),
    KC(l1_hits, "l1_hits", "of those, lines found"),
    KC(l2_hits, "l2_hits", "sectors found in L2"),
    KC(l2_misses, "l2_misses", "sectors not found in L2"),
    KC(dram_row_misses, "dram_row_misses", "requests to a DRAM row that was not open"),
    KC(global_loads, "global_loads", "wavefront instructions that load from global memory"),
    KC(global_stores, "global_stores", "wavefront instructions that store to global memory"),
    KC(global_atomics, "global_atomics", "wavefront instructions that are atomics on global memory"),
    KC(local_accesses, "local_accesses", "wavefront instructions that access local memory"),
    KC(local_conflict_passes, "local_conflict_passes",
       "passes over local memory beyond those without bank conflicts"),
    KC(page_faults, "page_faults", "pages that wavefronts touched first where they were not there"),
    KC(fault_duplicates, "fault_duplicates",
       "entries of the fault buffer beside these, of the same pages"),
    KC(fault_batches, "fault_batches", "batches of the fault handler with an entry of the kernel"),
    KC(fault_bytes, "fault_bytes", "bytes moved for its faults, pages of the prefetch tree too"),
    KC(barriers, "barriers", "barriers, counted by wavefront"),
    KC(groups, "groups", "work-groups"),
    KC(waves, "waves", "wavefronts"),
    KEY(F64, K, occupancy, "occupancy",
        "the most wavefronts that a compute unit can hold of this kernel over its slots"),
    KEY(TEXT, K, limit, "occupancy_limit",
        "what bounds the occupancy: wavefronts, workgroups, barriers, vector registers, scalar "
        "registers or local memory"),
    KC(residency_cycles, "residency_cycles", "core cycles that wavefronts were resident, summed"),
    PART(OBJECT, stall_fields, K, counters.stall_cycles, "stalls",
         "wavefront-cycles by what the wavefront did; they add up to residency_cycles"),
};
TABLE(result_kernel_fields, kernel_rows, true);

#define T struct record_transfer
static const struct field transfer_rows[] = {
    KEY(U64, T, id, "id", "number of the transfer, in order of completion"),
    NULLABLE(U64, T, node, "node", "node of the DAG that it is for"),
    NULLABLE(TEXT, T, region_name, "region", "region it ran in; null outside all"),
    NULLABLE(U32, T, iteration, "iteration", "iteration of the region"),
    KEY(TEXT, T, array, "array", "name of the array"),
    CHOICE(result_transfer_names, T, kind, "kind",
           "copy: by hand; prefetch: ahead of a use; fault: a page that was touched; evict: the "
           "device was full; migrate: all that a launch may touch, moved ahead of it on a device "
           "without page faults"),
    CHOICE(dir_names, T, dir, "dir", "to the device, or to the host"),
    KEY(U64, T, bytes, "bytes", "bytes moved"),
    KEY(U32, T, stream, "stream", "stream it belongs to"),
    KEY(NS, T, queued_ps, "queued_ns",
        "handed to the device; of a page fault, when its handler, or the host, took it up"),
    KEY(NS, T, start_ps, "start_ns", "start on the copy engine"),
    KEY(NS, T, end_ps, "end_ns", "end on the copy engine"),
};
TABLE(result_transfer_fields, transfer_rows, true);

static const struct field node_rows[] = {
    KEY(U64, struct record_node, id, "id", "counted from 0 in order of the calls"),
    CHOICE(node_names, struct record_node, kind, "kind", "kernel, or access of the host to an array"),
    KEY(TEXT, struct record_node, name, "name", "kernel or array"),
    KEY(U32, struct record_node, stream, "stream", "stream it was given"),
    NULLABLE(TEXT, struct record_node, region_name, "region", "region of the call; null outside all"),
    NULLABLE(U32, struct record_node, iteration, "iteration", "iteration of the region"),
};
TABLE(result_node_fields, node_rows, true);

static const struct field edge_rows[] = {
    KEY(U64, struct result_edge, row.from, "from", "node that must end first"),
    KEY(U64, struct result_edge, row.to, "to", "node that waits"),
    KEY(NAMES, struct result_edge, arrays, "arrays", "arrays that they share"),
    CHOICE(edge_names, struct result_edge, row.kind, "kind",
           "read after write, write after read, write after write, of the first array; order: "
           "stated in a "
           "graph by hand"),
};
TABLE(result_edge_fields, edge_rows, true);

static const struct field dag_rows[] = {
    PART(ROWS, result_node_fields, struct result, nodes, "nodes", "computational elements"),
    PART(ROWS, result_edge_fields, struct result, edges, "edges", "dependencies"),
};
static TABLE(dag_fields, dag_rows, false);

static const struct field check_rows[] = {
    KEY(CHARS, struct hd_check, name, "name", "name of the check"),
    KEY(BOOL, struct hd_check, passed, "passed",
        "whether |got - expected| <= tolerance * max(1, |expected|)"),
    KEY(F64, struct hd_check, got, "got", "value found; null if not finite"),
    KEY(F64, struct hd_check, expected, "expected", "value wanted"),
    KEY(F64, struct hd_check, tolerance, "tolerance", "as the check says"),
};
TABLE(result_check_fields, check_rows, true);

/* ---- the profile --------------------------------------------------------------------------- */

#define PC struct profile_counts
static const struct field global_rows[] = {
    KEY(U64, PC, requests, "requests", "global accesses of at least one lane"),
    KEY(U64, PC, lines, "lines", "cache lines that they touched"),
    KEY(U64, PC, sectors, "sectors", "sectors that they touched"),
    KEY(U64, PC, least_sectors, "least_sectors",
        "sectors that would hold as many bytes side by side, at most those touched"),
    KEY(U64, PC, lookups, "l1_lookups", "lines that loads looked up in L1"),
    KEY(U64, PC, hits, "l1_hits", "of those, lines found"),
};
static TABLE(global_fields, global_rows, true);

static const struct field local_rows[] = {
    KEY(U64, PC, local_accesses, "accesses", "accesses to local memory of at least one lane"),
    KEY(U64, PC, passes, "passes", "passes that they took over the banks"),
    KEY(U64, PC, least_passes, "least_passes", "passes that they would take without conflicts"),
};
static TABLE(local_fields, local_rows, true);

#define PL struct profile_line
static const struct field line_rows[] = {
    KEY(TEXT, PL, file, "file", "file that the instructions' text stands in"),
    KEY(U32, PL, line, "line", "line of it, from 1"),
    NULLABLE(TEXT, PL, text, "text", "the line; null where the source is not known"),
    KEY(U32, PL, instructions, "instructions",
        "instructions of the kernel that stand there; several where it is repeated or expanded"),
    KEY(U64, PL, counts.issues, "issues", "wavefront instructions issued"),
    KEY(U64, PL, counts.lanes, "lanes", "their active lanes, summed"),
    PART(OBJECT, stall_fields, PL, counts.stalls, "stalls",
         "wavefront-cycles by what the wavefront did, at the instruction that it issued or waited "
         "to issue; at the barrier or fence if it waited there"),
    PART(OBJECT, global_fields, PL, counts, "global", "accesses to global memory"),
    PART(OBJECT, local_fields, PL, counts, "local", "accesses to local memory"),
    NULLABLE(TEXT, PL, hint, "hint", "what these numbers say, in words; null if nothing"),
};
TABLE(result_line_fields, line_rows, true);

#define PR struct profile_rates
static const struct field rate_rows[] = {
    KEY(F64, PR, issue, "issue", "share of the issue slots (SIMD units times core cycles)"),
    KEY(F64, PR, dram, "dram",
        "share of the time in which DRAM passes bytes at its full rate or opens rows"),
    KEY(F64, PR, dram_rows, "dram_rows", "the part of it in which rows are opened"),
    KEY(F64, PR, l2, "l2", "share of the bandwidth of the L2 slices"),
    KEY(F64, PR, f32, "f32", "share of the f32 operations of fused multiply-adds in every cycle"),
    KEY(F64, PR, f64, "f64", "the same for f64"),
    KEY(F64, PR, lds, "lds", "share of the cycles of local memories in which one took a pass"),
};
static TABLE(rate_fields, rate_rows, true);

#define PK struct profile_kernel
static const struct field profile_kernel_rows[] = {
    KEY(TEXT, PK, name, "name", "name of the kernel"),
    KEY(TEXT, PK, file, "file", "file of its .kernel"),
    KEY(U32, PK, line, "line", "line of its .kernel, from 1"),
    KEY(U64, PK, launches, "launches", "launches that completed; what follows is their sum"),
    KEY(U64, PK, unfinished, "unfinished",
        "launches that had not completed when the run ended; the lines hold what they had done"),
    KEY(U32X3, PK, grid, "grid", "work-groups of the first launch in x, y, z"),
    KEY(U32X3, PK, block, "block", "work-items of a work-group in x, y, z, then"),
    KEY(BOOL, PK, shapes_differ, "shapes_differ", "whether another launch had another grid or block"),
    KEY(NS, PK, time_ps, "time_ns", "from the start to the end of each launch"),
    KEY(F64, PK, occupancy, "occupancy",
        "the most wavefronts that a compute unit can hold over its slots"),
    KEY(TEXT, PK, limit, "occupancy_limit", "what bounds the occupancy"),
    KEY(F64, PK, rates.resident_waves, "resident_waves",
        "wavefronts on a compute unit, the average of the time"),
    KEY(F64, PK, rates.wave_ipc, "wave_ipc",
        "wavefront instructions per compute unit and core cycle"),
    KEY(F64, PK, rates.lane_utilisation, "lane_utilisation",
        "active lanes over lanes of issued instructions"),
    KEY(F64, PK, rates.l1_hit_rate, "l1_hit_rate",
        "share of the lines looked up by loads that were in L1"),
    KEY(F64, PK, rates.l2_hit_rate, "l2_hit_rate",
        "share of the sectors asked of L2 that were there"),
    PART(OBJECT, rate_fields, PK, rates, "utilisation",
         "use of each part over its peak; null if the kernel took no time"),
    KEY(U64, PK, cycles, "cycles", "wavefront-cycles of all lines: the residency"),
    PART(OBJECT, stall_fields, PK, counts.stalls, "stalls", "the same by what the wavefront did"),
    PART(ROWS, result_line_fields, PK, line_rows, "lines",
         "lines of source with instructions of the kernel, by file, then by line"),
};
TABLE(result_profile_kernel_fields, profile_kernel_rows, false);

static const struct field profile_rows[] = {
    PART(ROWS, result_profile_kernel_fields, struct profile, kernel_rows, "kernels",
         "kernels in order of their first wavefront"),
};
static TABLE(profile_fields, profile_rows, false);

/* ---- the whole ----------------------------------------------------------------------------- */

#define R struct result
static const struct field checks_rows[] = {
    KEY(U64, R, checks_passed, "passed", "checks of the program that held"),
    KEY(U64, R, checks_failed, "failed", "checks of the program that did not"),
    PART(ROWS, result_check_fields, R, check_list, "list", "the checks in order"),
};
static TABLE(checks_fields, checks_rows, false);

static const struct field point_rows[] = {
    KEY(TEXT, struct result_point, id, "id",
        "16 hexadecimal digits that follow from the settings of the point alone"),
    KEY(U64, struct result_point, index, "index",
        "number of the point, from 0; the last axis varies fastest"),
    KEY(MAP, struct result_point, axes_json, "axes", "the value of each axis, in their order"),
    KEY(U32, struct result_point, exit_status, "exit_status",
        "as of heddle run; 128 and the number of the signal that killed the process"),
};
TABLE(result_point_fields, point_rows, true);

static const struct field simulator_rows[] = {
    KEY(TEXT, struct result_simulator, version, "version", "version of heddle"),
    KEY(TEXT, struct result_simulator, lanes, "lanes",
        "build of the lane functions: baseline or avx2"),
    KEY(F64, struct result_simulator, wall_s, "wall_s",
        "time of the run on this machine, in seconds"),
    KEY(U64, struct result_simulator, wave_instr, "wave_instr",
        "wavefront instructions simulated, warm-up too"),
    KEY(F64, struct result_simulator, wave_instr_per_s, "wave_instr_per_s",
        "the same per second of wall_s"),
    KEY(U64, struct result_simulator, scheduled, "scheduled",
        "launches, copies and host accesses that the scheduler was given, warm-up too"),
    KEY(F64, struct result_simulator, schedule_s, "schedule_s",
        "time of the scheduler itself on this machine, simulation apart, in seconds"),
    KEY(U64, struct result_simulator, peak_rss_bytes, "peak_rss_bytes",
        "largest resident size of the process"),
};
static TABLE(simulator_fields, simulator_rows, true);

static const struct field result_rows[] = {
    KEY(TEXT, R, schema, "schema", "heddle.result/1"),
    KEY(TEXT, R, workload, "workload", "the program as it was named"),
    KEY(MAP, R, args_json, "args", "arguments that the program asked for, defaults too"),
    KEY(TEXT, R, config_name, "config_name", "name or file of the configuration"),
    KEY(MAP, R, config_json, "config", "every parameter, resolved"),
    KEY(U64, R, seed, "seed", "seed of the run"),
    KEY(BOOL, R, timing, "timing", "false: values only; all times are null"),
    KEY(BOOL, R, unsafe, "unsafe", "true: the program could read and write files"),
    CHOICE(record_detail_names, R, detail, "detail", "what bounds the lists of rows"),
    PART(OBJECT, cut_fields, R, truncated, "truncated", "how many rows were left out of each list"),
    CHOICE(result_status_names, R, status, "status", "how the run ended"),
    PART(OBJECT_AT, error_fields, R, error, "error", "why a run failed or stopped"),
    KEY(NS, R, chosen.time_ps, "time_ns",
        "the lower median of region main's timed iterations; of the first region if none is named "
        "main; of the whole script if there is no region"),
    KEY(NS, R, chosen.device_time_ps, "device_time_ns",
        "in that iteration, from the first kernel or transfer scheduled to the last one finished"),
    KEY(NS, R, host_time_ps, "host_time_ns", "the simulated host's clock at the end"),
    KEY(U64, R, array_bytes, "array_bytes", "bytes of the arrays that are there at the end"),
    PART(ROWS, result_region_fields, R, regions, "regions", "timed iterations in order"),
    NULLABLE(NS, R, contention_free_ps, "contention_free_ns",
             "longest path of the parallel run's DAG with the times that the serial prefetched run "
             "took for each element; compare fills it in"),
    PART(ROWS, result_step_fields, R, critical_path, "critical_path",
         "the chain of waits that ends last, without gaps from the begin of the iteration to its "
         "end"),
    PART(OBJECT, overlap_fields, R, chosen.overlap, "overlap",
         "each interval against the union of all the others"),
    PART(OBJECT, overlap_fields, R, fig11, "overlap_fig11",
         "neighbouring transfers merged, and each interval against earlier ones only"),
    PART(ROWS, result_kernel_fields, R, kernels, "kernels", "kernels in order of completion"),
    PART(ROWS, result_transfer_fields, R, transfers, "transfers", "transfers in order of completion"),
    SELF(dag_fields, "dag", "computations and what they wait for"),
    PART(OBJECT, metric_fields, R, chosen.metrics, "metrics", "of that iteration"),
    PART(OBJECT, tm_fields, R, chosen.metrics.sums, "tm", "transactions of that iteration"),
    PART(OBJECT, cf_fields, R, cf, "cf", "control flow of that iteration"),
    SELF(checks_fields, "checks", "checks of the program"),
    PART(OBJECT_AT, profile_fields, R, profile, "profile",
         "what each source line did, and what it waited for; heddle profile fills it in"),
    PART(OBJECT_AT, result_explain_fields, R, explain, "explain",
         "where the time goes, what a schedule and what faster parts would gain; heddle explain "
         "fills it in"),
    PART(OBJECT_AT, result_point_fields, R, point, "point",
         "which point of a sweep this is; null outside sweeps"),
    PART(OBJECT, simulator_fields, R, simulator, "simulator",
         "the only part that differs between two equal runs"),
};
const struct field_table result_fields = {result_rows, sizeof result_rows / sizeof *result_rows,
                                          false};

void result_schema(struct json_writer *w)
{
    json_object(w, NULL);
    json_text(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_text(w, "title", "heddle.result/1");
    fields_schema(w, &result_fields);
    json_end(w);
}
