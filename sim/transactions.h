/*
 * Transactions in local memory: how the state machine of tm/ runs on the machine. A work-group whose
 * kernel has transactions has a block of tm/; each of its wavefronts keeps what an attempt has to
 * give back. For the files of sim/ only.
 *
 * A wavefront is in a transaction from its first tx.begin to the tx.commit that leaves no lane to do
 * again. Its cycles in between are booked as they pass, up to .mark.
 */
#ifndef HD_SIM_TRANSACTIONS_H
#define HD_SIM_TRANSACTIONS_H

#include "sim/device.h"
#include "tm/oracle.h"

/* What a wavefront keeps of its transaction. One block without pointers into itself, so that a copy is one. */
struct wave_tx {
    const struct isa_insn *begin; /* the outermost tx.begin */
    uint64_t attempted;           /* lanes that the attempt started with */
    uint64_t start, mark; /* core cycles: of the first attempt; up to which all are booked */
    uint32_t attempts;
    bool running;   /* an attempt; else it is between two */
    bool waited;    /* it came to wait at tx.begin */
    bool stop;      /* it is to end its attempt before its next instruction */
    uint8_t serial; /* enum sim_tx_cycles of an attempt that is serialised, else SIM_TX_USEFUL */
    uint32_t width, vregs, cf_bytes;
    uint64_t saved[ISA_MAX_VREGS / 64];   /* registers whose old values are in v */
    uint64_t written[ISA_MAX_VREGS / 64]; /* of these, written in this attempt */
    uint64_t m[ISA_MASKS + 1];
    uint32_t s[ISA_MAX_SREGS];
    _Alignas(64) uint32_t v[]; /* [vregs][width], then the divergence unit's state */
};

/* ---- sim/transactions.c: attempts, waits, stops ---- */

/* A kernel becomes resident, a work-group and each of its wavefronts starts; false when memory is short. */
bool tx_run_start(struct sim_machine *m, struct kernel_run *run);
bool tx_group_start(struct sim_machine *m, struct workgroup *g);
bool tx_wave_start(struct sim_machine *m, struct wavefront *w, uint32_t wave);
/* A wavefront ends at a cycle, outside transactions. */
void tx_wave_end(struct sim_machine *m, struct wavefront *w, uint64_t now);
/* An instruction of a wavefront that is in a transaction, or tx.begin; in SIM_TIMED and in SIM_VALUES. */
void tx_issue(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
void tx_step(struct sim_machine *m, struct wavefront *w);
/* The wavefront goes on with w->next at a cycle; in SIM_VALUES in its next turn. */
void tx_go_on(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
/* It does when another wavefront lets it. */
void tx_wait(struct wavefront *w, uint64_t cycle);
/* False if a call of tm/ found a mistake of the program, or of ours; it is recorded. */
bool tx_went_well(struct sim_machine *m, struct wavefront *w, const struct tm_out *out);
/*
 * Before an instruction: keeps the registers that it writes first. True where that takes time (tm.checkpoint_cycles): the
 * instruction issues again when they are kept.
 */
bool tx_saves_registers(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
/* No lane of the attempt is left: to the outermost tx.commit, with all lanes awake. */
void tx_skip(struct sim_machine *m, struct wavefront *w);
/* Others that a call of tm/ stops, and those that it lets go on at a cycle. */
void tx_tell_others(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                    uint64_t cycle);

/* ---- what is asked of sim/issue.c, sim/values.c and sim/probe.c ---- */

/* wavefront.issue: of kernels without transactions, and outside and inside of one. */
enum issue_table { ISSUE_PLAIN, ISSUE_BESIDE_TX, ISSUE_IN_TX, NUM_ISSUE_TABLES };
extern issue_fn *const issue_tables[NUM_ISSUE_TABLES][ISA_NUM_FORMATS];
/* One instruction of a wavefront, without regard to a transaction that it is in. */
void issue_plain(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
void values_step_plain(struct sim_machine *m, struct wavefront *w);
/* HD_PROBE_TX_*, of lanes. */
void probe_tx(struct sim_machine *m, const struct wavefront *w, enum hd_probe_kind kind,
              uint64_t lanes, uint64_t cycle);

/* ---- sim/transactions_access.c: local memory ---- */

void tx_access(struct sim_machine *m, struct wavefront *w, uint64_t cycle);
/* local_access() outside transactions of a kernel that has some; below 0 also if the wavefront has to wait. */
int tx_plain(struct sim_machine *m, struct wavefront *w, uint64_t active, uint64_t cycle);
/* The banks serve the passes of a call that brings nothing back, behind what they have; returns when the last is done. */
uint64_t tx_passes(struct sim_machine *m, struct wavefront *w, const struct tm_out *out,
                   uint64_t cycle);

/* ---- sim/transactions_oracle.c: what the oracle is told, if the work-group has one ---- */

/* A work-group starts, with its local memory; false when memory is short. */
bool tx_oracle_start(struct sim_machine *m, struct workgroup *g);
/* After a call of tm/: what the oracle finds wrong is recorded, and the answer false. */
bool tx_oracle_begin(struct sim_machine *m, struct wavefront *w, uint64_t exec,
                     const struct tm_out *out);
bool tx_oracle_access(struct sim_machine *m, struct wavefront *w, uint64_t lanes,
                      const struct tm_ref *ref, const struct tm_out *out);
bool tx_oracle_commit(struct sim_machine *m, struct wavefront *w, const struct tm_out *out);
bool tx_oracle_stopped(struct sim_machine *m, struct wavefront *w, const struct tm_out *out);
/* After an access outside transactions. */
bool tx_oracle_plain(struct sim_machine *m, struct wavefront *w, uint64_t lanes,
                     const struct tm_ref *ref);
/* The work-group's last wavefront has ended. */
void tx_oracle_finish(struct sim_machine *m, struct wavefront *w);

/* ---- sim/checkpoint.c: registers ---- */

/* Bytes of a wavefront's block. */
size_t checkpoint_bytes(uint32_t vregs, uint32_t width, size_t cf_bytes);
/* A transaction begins: keeps scalar registers, masks and the state of the divergence unit. */
void checkpoint_take(struct sim_machine *m, struct wavefront *w);
/* Before an instruction: keeps the vector registers that it is the first to write. Returns how many this attempt had not written. */
unsigned checkpoint_writes(struct wavefront *w, const struct isa_insn *in);
/* The state of the divergence unit as it was at the start. */
void checkpoint_divergence(struct sim_machine *m, struct wavefront *w);
/* Gives lanes what their registers were, and the wavefront its scalar registers, VCC and divergence. */
void checkpoint_restore(struct sim_machine *m, struct wavefront *w, uint64_t lanes);

/* ---- sim/transactions_config.c: which detector, and what it takes ---- */

/* What tm/ is told of a launch: directives come after --set and before tm.policy and the configuration. */
struct tm_params tx_params(const struct sim_config *c, const struct sim_launch *l);
/* The same without tm.policy: what the parameters and directives say. */
struct tm_params tx_fixed_params(const struct sim_config *c, const struct isa_kernel *k);
/* What a launch of a kernel with transactions takes beside its own; all 0 without. */
struct tm_needs tx_needs(const struct sim_config *c, const struct sim_launch *l);
/* Whether the machine can run the transactions of a launch of that many work-items a work-group. */
enum hd_status tx_check(const struct sim_config *c, const struct sim_launch *l, uint64_t items,
                        struct hd_error *err);

#endif
