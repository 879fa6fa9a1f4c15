/* disassemble(x) assembles to the bytes of x, for every opcode with every kind of operand, made from the table and at random. */
#include "isa/asm.h"
#include "isa/dis.h"
#include "isa/encode.h"
#include "isa/format.h"
#include "sim/base/rng.h"
#include "tests/soak.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LDS_BYTES = 65536 };

static const enum isa_operand_kind any[ISA_NUM_SLOTS];

/* A program under construction: one kernel of form exec, which may write all that can be written. */
struct builder {
    struct text code;
    size_t ninsns;
    bool mixed; /* loops must not go round what writes scalars */
    uint32_t forms;
};

static uint64_t pick(struct rng *r, uint64_t n)
{
    return rng_below(r, n);
}

static void put(struct builder *b, const struct isa_insn *in)
{
    uint8_t bytes[ISA_ENC_MAX_BYTES];
    unsigned n = isa_encode(in, bytes);

    text_add_bytes(&b->code, (const char *)bytes, n);
    if (isa_writes_exec(in))
        b->forms = ISA_FORM_EXEC;
    if (isa_formats[isa_ops[in->op].format].extra & ISA_X_JIP)
        b->forms = ISA_FORM_GOTO;
    b->ninsns++;
}

static char *copy_string(const char *s)
{
    char *copy = malloc(strlen(s) + 1);

    assert_non_null(copy);
    memcpy(copy, s, strlen(s) + 1);
    return copy;
}

/* The program of the builder's code, with two strings. */
static struct isa_program *build(struct builder *b)
{
    struct isa_program *p = calloc(1, sizeof *p);
    struct hd_error err = {0};

    assert_non_null(p);
    p->code_bytes = b->code.len;
    p->code = malloc(b->code.len);
    p->kernels = calloc(1, sizeof *p->kernels);
    p->strings = calloc(2, sizeof *p->strings);
    assert_true(p->code && p->kernels && p->strings);
    memcpy(p->code, b->code.at, b->code.len);
    p->strings[p->nstrings++] = copy_string("%5.2f \"q\" \\ %% \n");
    p->strings[p->nstrings++] = copy_string("%x");
    p->nkernels = 1;
    p->kernels[0] = (struct isa_kernel){.name = "k",
                                        .end = (uint32_t)b->ninsns,
                                        .vregs = ISA_MAX_VREGS,
                                        .sregs = ISA_MAX_SREGS,
                                        .lds_bytes = LDS_BYTES,
                                        .forms = b->forms,
                                        .nparams = 3};
    p->kernels[0].params[0] = (struct isa_param){"x", T_U8, true, 0};
    p->kernels[0].params[1] = (struct isa_param){"n", T_F32, false, 2};
    p->kernels[0].params[2] = (struct isa_param){"d", T_I64, false, 4};
    if (isa_load(p, NULL, 0, &err) != HD_OK)
        fail_msg("%s: %s", err.place, err.message);
    text_free(&b->code);
    return p;
}

/* Strings are numbered in order of use, so the bytes are compared with string indices left out: by text and fields. */
static void compare(const struct isa_program *p, const struct isa_program *q, const char *text)
{
    for (size_t i = 0; i < p->ninsns && i < q->ninsns; i++) {
        struct isa_insn a = p->insns[i], b = q->insns[i];
        uint8_t x[ISA_ENC_MAX_BYTES] = {0}, y[ISA_ENC_MAX_BYTES] = {0};
        struct text line = {0};

        if (isa_formats[a.format].extra & ISA_X_STRING) {
            assert_string_equal(p->strings[a.imm], q->strings[b.imm]);
            a.imm = b.imm = 0;
        }
        isa_disassemble_insn(p, &p->insns[i], &line);
        if (isa_encode(&a, x) != isa_encode(&b, y) || memcmp(x, y, sizeof x) != 0)
            fail_msg("instruction %zu comes back with other bytes: %s", i, text_str(&line));
        assert_int_equal(a.run, b.run);
        assert_memory_equal(a.wait, b.wait, sizeof a.wait);
        text_free(&line);
    }
    assert_int_equal(p->ninsns, q->ninsns);
    assert_memory_equal(p->kernels[0].params, q->kernels[0].params, sizeof p->kernels[0].params);
    assert_int_equal(p->kernels[0].lds_bytes, q->kernels[0].lds_bytes);
    assert_int_equal(p->kernels[0].vregs, q->kernels[0].vregs);
    assert_int_equal(p->kernels[0].sregs, q->kernels[0].sregs);
    assert_int_equal(p->kernels[0].forms, q->kernels[0].forms);
    assert_non_null(text);
}

static void round_trip(struct builder *b)
{
    const struct isa_insn end = {.op = OP_s_end};
    struct isa_program *p, *q;
    struct text text = {0}, again = {0};
    struct hd_error err;

    put(b, &end);
    p = build(b);
    isa_disassemble(p, &text);
    if (isa_assemble_text("dis", text.at, text.len, NULL, 0, &q, &err) != HD_OK)
        fail_msg("%s: %s (%s)", err.place, err.message, err.hint);
    compare(p, q, text.at);
    isa_disassemble(q, &again);
    assert_string_equal(text.at, again.at);
    text_free(&text);
    text_free(&again);
    isa_program_free(p);
    isa_program_free(q);
    memset(b, 0, sizeof *b);
    b->forms = ISA_FORM_ALL;
}

/* ---- random operands -------------------------------------------------------------------------- */

static struct isa_operand random_register(struct rng *r, enum isa_operand_kind kind, unsigned words,
                                          bool write)
{
    const unsigned count[] = {0, ISA_MAX_VREGS, ISA_MAX_SREGS, ISA_MASKS + 1, 1};
    unsigned index = (unsigned)pick(r, count[kind]);

    if (kind == ISA_O_S && words == 1 && !write && pick(r, 3) == 0)
        index = ISA_MAX_SREGS + (unsigned)pick(r, ISA_SV_END - ISA_MAX_SREGS);
    if (words == 2)
        index &= ~1u;
    return (struct isa_operand){(uint8_t)kind, (uint8_t)words, (uint16_t)index};
}

static uint64_t random_literal(struct rng *r, enum isa_type type)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x7f800000,
                                     0xff800000,
                                     0x7fc00000,
                                     0xffc00000,
                                     0x7f800001,
                                     0x00000001,
                                     0x007fffff,
                                     0x3f800000,
                                     0xbf800000,
                                     10,
                                     65535,
                                     65536,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff,
                                     0x7ff0000000000000,
                                     0x7ff8000000000000,
                                     0xfff8000000000001,
                                     0x3ff0000000000000,
                                     0x0000000000000001,
                                     0x100000000};
    uint64_t bits = pick(r, 2) ? edges[pick(r, sizeof edges / sizeof *edges)] : rng_next(r);

    if (type == T_MASK)
        return bits & 1 ? ~UINT64_C(0) : 0;
    return isa_type_words(type) == 1 ? bits & UINT32_MAX : bits;
}

static void random_address(struct rng *r, bool local, unsigned bytes, struct isa_address *a)
{
    const struct isa_operand none = {0};
    unsigned shape = (unsigned)pick(r, local ? 3 : 3);

    *a = (struct isa_address){none, none, 1, 0};
    if (local ? shape == 1 : shape != 2)
        a->base = random_register(r, ISA_O_S, local ? 1 : 2, false);
    if (local ? shape == 2 : shape != 0)
        a->index = random_register(r, ISA_O_V, !local && shape == 2 ? 2 : 1, false);
    if (a->index.words == 1)
        a->scale = (uint8_t)(1u << pick(r, 4));
    a->disp = pick(r, 2) ? (int32_t)rng_next(r) : (int32_t)pick(r, 3) - 1;
    if (local && shape == 0)
        a->disp = (int32_t)(pick(r, LDS_BYTES / bytes) * bytes);
}

static void random_operand(struct rng *r, struct isa_insn *in, enum isa_slot slot,
                           enum isa_operand_kind kind, bool *has_literal)
{
    enum isa_type type = isa_slot_type(&isa_ops[in->op], slot);
    uint64_t literal = random_literal(r, type);

    if (kind != ISA_O_IMM) {
        *isa_slot(in, slot) =
            random_register(r, kind, isa_operand_words(type, kind), slot == ISA_SLOT_D);
        return;
    }
    *isa_slot(in, slot) = (struct isa_operand){.kind = ISA_O_IMM};
    if (!*has_literal)
        in->imm = literal;
    else if (isa_type_words(type) == 1 && type != T_MASK)
        in->imm &= UINT32_MAX;
    *has_literal = true;
}

static enum isa_operand_kind random_kind(struct rng *r, unsigned kinds)
{
    unsigned kind;

    do
        kind = (unsigned)pick(r, ISA_O_IMM + 1);
    while (!(kinds & 1u << kind));
    return (enum isa_operand_kind)kind;
}

static void random_rest(struct rng *r, struct isa_insn *in, uint32_t ntargets)
{
    const struct isa_op_info *op = &isa_ops[in->op];
    unsigned extra = isa_formats[op->format].extra;
    enum isa_type memory = (enum isa_type)(op->dtype ? op->dtype : op->atype);

    if (extra & ISA_X_ADDRESS)
        random_address(r, extra & ISA_X_LOCAL, isa_type_bytes(memory), &in->addr);
    if (extra & ISA_X_SPECIAL)
        in->imm = pick(r, ISA_VV_END);
    if (extra & ISA_X_STRING)
        in->imm = pick(r, 2);
    if (extra & ISA_X_TARGET)
        in->target = (uint32_t)pick(r, ntargets);
    if (!isa_takes_predicate(in))
        return;
    in->pred = (uint8_t)(pick(r, 2) * pick(r, ISA_MASKS + 2));
    in->pred_not = in->pred && pick(r, 2);
    in->flags = isa_takes_nomask(in) && pick(r, 4) == 0 ? ISA_F_NOMASK : 0;
}

/* want: a kind for each slot, or ISA_O_NONE for any. */
static void random_insn(struct rng *r, uint16_t op, const enum isa_operand_kind *want,
                        uint32_t ntargets, struct isa_insn *in)
{
    bool has_literal = false;

    memset(in, 0, sizeof *in);
    in->op = op;
    for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++) {
        unsigned kinds = isa_slot_kinds(&isa_ops[op], slot);

        if (kinds)
            random_operand(r, in, slot, want[slot] ? want[slot] : random_kind(r, kinds),
                           &has_literal);
    }
    random_rest(r, in, ntargets);
}

static bool has_jip(const struct isa_insn *in)
{
    return isa_formats[isa_ops[in->op].format].extra & ISA_X_JIP;
}

/* A goto or join, and behind it joins to which it may lead. */
static void put_with_joins(struct builder *b, struct rng *r, struct isa_insn *in)
{
    uint32_t pc = (uint32_t)b->ninsns;
    unsigned joins = in->op == OP_goto ? 2 : 1;

    if (in->op == OP_goto_b)
        in->target = b->mixed ? pc : (uint32_t)pick(r, pc + 1);
    if (in->op == OP_goto)
        in->target = pc + 1 + (uint32_t)pick(r, 2);
    in->jip = in->op == OP_goto && in->target == pc + 2 ? pc + 1 + (uint32_t)pick(r, 2) : pc + 1;
    if (in->op == OP_join && pick(r, 2))
        in->jip = ISA_NO_PC;
    put(b, in);
    for (unsigned i = 1; i <= joins; i++) {
        const struct isa_insn join = {.op = OP_join, .jip = i < joins ? pc + i + 1 : ISA_NO_PC};

        put(b, &join);
    }
}

static void put_random(struct builder *b, struct rng *r, uint16_t op,
                       const enum isa_operand_kind *want, uint32_t ntargets)
{
    struct isa_insn in;

    random_insn(r, op, want, ntargets, &in);
    if (has_jip(&in))
        put_with_joins(b, r, &in);
    else
        put(b, &in);
}

/* ---- tests ------------------------------------------------------------------------------------ */

/* tx.begin and tx.commit stand around code, which one opcode alone does not: test_transaction.c has them. */
static bool pairs_up(uint16_t op)
{
    return op == OP_tx_begin || op == OP_tx_commit;
}

static void every_opcode_with_every_kind_of_operand(void **state)
{
    struct builder b = {.forms = ISA_FORM_ALL};
    struct rng r;
    size_t pairs = 0;

    (void)state;
    rng_seed(&r, test_seed(1));
    for (uint16_t op = 0; op < ISA_NUM_OPS; op++) {
        if (pairs_up(op))
            continue;
        for (enum isa_slot slot = ISA_SLOT_D; slot < ISA_NUM_SLOTS; slot++) {
            for (unsigned kind = ISA_O_V; kind <= ISA_O_IMM; kind++) {
                enum isa_operand_kind want[ISA_NUM_SLOTS] = {ISA_O_NONE};

                if (!(isa_slot_kinds(&isa_ops[op], slot) & 1u << kind))
                    continue;
                want[slot] = (enum isa_operand_kind)kind;
                for (int i = 0; i < 6; i++)
                    put_random(&b, &r, op, want, (uint32_t)b.ninsns + 1);
                pairs++;
            }
        }
        for (int i = 0; i < 12; i++)
            put_random(&b, &r, op, any, (uint32_t)b.ninsns + 1);
        round_trip(&b);
    }
    assert_true(pairs > 2 * ISA_NUM_OPS);
}

static void random_programs(void **state)
{
    uint64_t seed = test_seed(20240601), rounds = test_count(40);
    struct rng r;
    struct builder b = {.forms = ISA_FORM_ALL};

    (void)state;
    rng_seed(&r, seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t n = 1 + (uint32_t)pick(&r, 400);
        unsigned leave_out = pick(&r, 2) ? ISA_X_JIP : 0;

        b.mixed = true;
        while (b.ninsns < n) {
            uint16_t op = (uint16_t)pick(&r, ISA_NUM_OPS);
            unsigned format = isa_ops[op].format;

            /* EXEC is written in form exec, gotos stand in form goto */
            if ((format != ISA_MASK_OP && format != ISA_SAVE_EXEC) || leave_out)
                if (!(isa_formats[format].extra & leave_out) && !pairs_up(op))
                    put_random(&b, &r, op, any, n + 1);
        }
        round_trip(&b);
    }
}

/* Any 24 bytes are refused, or are the encoding of what they decode to. */
static void random_bytes_decode_to_themselves(void **state)
{
    struct rng r;
    uint8_t bytes[ISA_ENC_MAX_BYTES], again[ISA_ENC_MAX_BYTES];
    unsigned accepted = 0;
    struct isa_insn in;

    (void)state;
    rng_seed(&r, test_seed(7));
    for (uint64_t round = 0; round < test_count(300000); round++) {
        const char *why;
        unsigned used;

        random_insn(&r, (uint16_t)pick(&r, ISA_NUM_OPS), any, 9, &in);
        memset(bytes, 0, sizeof bytes);
        isa_encode(&in, bytes);
        for (uint64_t flips = pick(&r, 4); flips > 0; flips--)
            bytes[pick(&r, sizeof bytes)] ^= (uint8_t)(1u << pick(&r, 8));
        used = isa_decode(bytes, sizeof bytes, &in, &why);
        assert_true(used ? !why : why != NULL);
        if (!used)
            continue;
        accepted++;
        assert_int_equal(isa_encode(&in, again), used);
        assert_memory_equal(bytes, again, used);
        assert_int_equal(isa_decode(bytes, used - 1, &in, &why), 0);
    }
    assert_true(accepted > 1000);
}

static void one_instruction_as_text(void **state)
{
    static const char source[] =
        ".kernel k\n.param x f32[]\nagain: @!m1 v_fma_f64.nomask v[2:3], "
        "v[4:5], 0.1, s[6:7]\nglobal_load_b32 v0, [x + v1*4 - 8]\n"
        "@vcc s_branch_any m0, again\nprint \"%g\\n\", v1\ns_end\n.endkernel\n";
    static const char *const want[] = {"@!m1 v_fma_f64.nomask v[2:3], v[4:5], 0.1, s[6:7]",
                                       "global_load_b32 v0, [s[0:1] + v1*4 - 8]",
                                       "@vcc s_branch_any m0, pc 0", "print \"%g\\n\", v1", "s_end"};
    struct isa_program *p;

    (void)state;
    assert_int_equal(isa_assemble_text("f", source, strlen(source), NULL, 0, &p, NULL), HD_OK);
    for (size_t i = 0; i < p->ninsns; i++) {
        struct text line = {0};

        isa_disassemble_insn(p, &p->insns[i], &line);
        assert_string_equal(text_str(&line), want[i]);
        text_free(&line);
    }
    isa_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_with_every_kind_of_operand),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(random_bytes_decode_to_themselves),
        cmocka_unit_test(one_instruction_as_text),
    };

    return cmocka_run_group_tests_name("dis_roundtrip", tests, NULL, NULL);
}
