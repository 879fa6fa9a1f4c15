/* Every kind of mistake: its code, its exact place, and words that the message or the hint must have. */
#include "isa/asm.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct mistake {
    const char *text, *code, *place, *words;
};

/* Prints what is not as it should be. */
static bool refused(const char *text, size_t len, const struct mistake *m)
{
    struct isa_program *program;
    struct hd_error err;

    if (isa_assemble_text("f", text, len, NULL, 0, &program, &err) == HD_OK) {
        isa_program_free(program);
        print_error("accepted: %.200s\n", text);
        return false;
    }
    assert_null(program);
    assert_int_equal(err.status, HD_BAD_INPUT);
    if (strcmp(err.code, m->code) == 0 && strcmp(err.place, m->place) == 0 &&
        (strstr(err.message, m->words) || strstr(err.hint, m->words)))
        return true;
    print_error("%.200s\n wanted %s at %s with \"%s\"\n got %s at %s: %s (%s)\n", text, m->code,
                m->place, m->words, err.code, err.place, err.message, err.hint);
    return false;
}

static void refuse_all(const struct mistake *table, size_t count)
{
    bool good = true;

    for (size_t i = 0; i < count; i++)
        good &= refused(table[i].text, strlen(table[i].text), &table[i]);
    assert_true(good);
}

#define REFUSE_ALL(table) refuse_all((table), sizeof(table) / sizeof *(table))
#define K ".kernel k\n"
#define E "\n s_end\n.endkernel\n"

static void refuses_wrong_instructions(void **state)
{
    static const struct mistake table[] = {
        {K "  v_ad_f32 v0, v1, v2" E, "asm-unknown-opcode", "f:2:3", "did you mean `v_add_f32`"},
        {K "qqqqqq" E, "asm-unknown-opcode", "f:2:1", "heddle list opcodes"},
        {K "goto" E, "asm-operand-count", "f:2:5", "goto label[, label]"},
        {K "join 3" E, "asm-operand-kind", "f:2:6", "a label"},
        {K "tx.begun" E, "asm-unknown-opcode", "f:2:1", "tx.begun"},
        {K ".tm_detector 5" E, "asm-syntax", "f:2:14", "name"},
        {K ".tm_detector prw_Sig" E, "asm-name", "f:2:14", "prw_Sig"},
        {K ".tm_serialise a\n.tm_serialise b" E, "asm-duplicate", "f:3:1", "twice"},
        {K "s_nop\n.tm_detector dcd" E, "asm-directive-order", "f:3:1", "first instruction"},
        {K "v_add_u32 v0, v1" E, "asm-operand-count", "f:2:17", "v_add_u32 v, v|s|imm, v|s|imm"},
        {K "v_add_u32" E, "asm-operand-count", "f:2:10", "more operands"},
        {K "v_add_u32 v0, v1, v2, v3" E, "asm-operand-count", "f:2:21", "too many"},
        {K "v_add_u32 v0 v1, v2" E, "asm-syntax", "f:2:14", "expected `,`"},
        {K "v_add_u32 v0, v1, v2 v3" E, "asm-syntax", "f:2:22", "`v3`"},
        {K "s_end 1" E, "asm-syntax", "f:2:7", "`1`"},
        {K "v_add_u32 s0, v1, v2" E, "asm-operand-kind", "f:2:11", "the destination"},
        {K "s_add_u32 s0, v1, 2" E, "asm-operand-kind", "f:2:15", "operand a"},
        {K "v_add_u32 v0, v1, m2" E, "asm-operand-kind", "f:2:19", "operand b"},
        {K "v_add_u32 5, v1, v2" E, "asm-operand-kind", "f:2:11", "`5`"},
        {K "s_mov_b32 %wave, 1" E, "asm-operand-kind", "f:2:11", "%wave"},
        {K "v_mov_b32 v0, %lane" E, "asm-operand-kind", "f:2:15", "v_get_u32"},
        {K "v_mov_b32 v0, %lanes" E, "asm-unknown-name", "f:2:15", "special value"},
        {K "v_get_u32 v0, %wave" E, "asm-operand-kind", "f:2:15", "no vector special value"},
        {K "v_get_u32 v0, v1" E, "asm-operand-kind", "f:2:15", "%lane"},
        {K "v_add_f64 v[0:1], v[2:3], v4" E, "asm-operand-type", "f:2:27", "two registers"},
        {K "v_add_u32 v0, v[2:3], v4" E, "asm-operand-type", "f:2:15", "one register"},
        {K "v_add_f64 v[0:1], v[3:4], 1.0" E, "asm-pair-alignment", "f:2:19", "even"},
        {K "v_add_f64 v[0:2], v[2:3], 1.0" E, "asm-pair", "f:2:11", "no pair"},
        {K "v_mov_b32 v256, 1" E, "asm-register-range", "f:2:11", "v0 to v255"},
        {K "s_mov_b32 s104, 1" E, "asm-register-range", "f:2:11", "s0 to s103"},
        {K "m_mov m16, m0" E, "asm-register-range", "f:2:7", "m0 to m15"},
        {K "v_mov_b32 v007, 1" E, "asm-register-range", "f:2:11", "v007"},
        {K "v_mov_b64 v[254:256], 1" E, "asm-range", "f:2:17", "between 0 and 255"},
        {K "@v0 s_end" E, "asm-operand-kind", "f:2:2", "mask"},
        {K "@exec s_end" E, "asm-operand-kind", "f:2:2", "mask"},
        {K "@m0 s_add_u32 s0, s1, 1" E, "asm-predicate", "f:2:1", "s_add_u32"},
        {K "@m0 m_and s[2:3], m0, m1" E, "asm-predicate", "f:2:1", "m_and"},
        {K "s_nop.nomask" E, "asm-predicate", "f:2:1", "nomask"},
        {K "v_select_b32 v0, 1, v0, exec" E, "asm-operand-kind", "f:2:25", "operand c"},
        {K "v_sub_u32 v0, 1, 2" E, "asm-two-literals", "f:2:18", "one literal"},
        {K "m_and m0, m1, 1" E, "asm-range", "f:2:15", "0 and -1"},
        {K "v_mov_b32 v0, nosuch" E, "asm-unknown-name", "f:2:15", "nosuch"},
        {K "5" E, "asm-syntax", "f:2:1", "expected an instruction"},
        {K "v_mov_b32 v0, 1 = 2" E, "asm-character", "f:2:17", "="},
        {K "v_mov_b32 v0, \x01" E, "asm-character", "f:2:15", "0x01"},
        {K "print \"x\", v0" E, "asm-format", "f:2:7", "no conversion"},
        {K "print \"%d %d\", v0" E, "asm-format", "f:2:7", "more than one"},
        {K "print \"%s\", v0" E, "asm-format", "f:2:7", "does not exist"},
        {K "print v0" E, "asm-syntax", "f:2:7", "quotes"},
        {K "print \"%d" E, "asm-string", "f:2:7", "closing"},
        {K "assert m0, \"\\q\"" E, "asm-escape", "f:2:13", "\\q"},
        {"v_mov_b32 v0, 1\n", "asm-outside-kernel", "f:1:1", ".kernel"},
        {"x: \n", "asm-outside-kernel", "f:1:1", "`x`"},
    };

    (void)state;
    REFUSE_ALL(table);
}

static void refuses_wrong_addresses(void **state)
{
    static const struct mistake table[] = {
        {K "global_load_b32 v0, v1" E, "asm-syntax", "f:2:21", "expected `[`"},
        {K "global_load_b32 v0, [v1]" E, "asm-address", "f:2:21", "64-bit base"},
        {K "global_load_b32 v0, [16]" E, "asm-address", "f:2:21", "64-bit base"},
        {K "global_load_b32 v0, [s4]" E, "asm-address", "f:2:21", "64-bit scalar"},
        {K "global_load_b32 v0, [s[4:5] + v[2:3]]" E, "asm-address", "f:2:21", "one vector register"},
        {K "global_load_b32 v0, [s[4:5] + v2*3]" E, "asm-address", "f:2:34", "1, 2, 4 or 8"},
        {K "global_load_b32 v0, [s[4:5]*4]" E, "asm-address", "f:2:29", "only a vector register"},
        {K "global_load_b32 v0, [s[4:5] + v2 + v3]" E, "asm-address", "f:2:36",
         "one vector register"},
        {K "global_load_b32 v0, [s[4:5] - v2]" E, "asm-address", "f:2:31", "not subtracted"},
        {K "global_load_b32 v0, [s[4:5] + 2147483648]" E, "asm-range", "f:2:31", "displacement"},
        {K "global_load_b32 v0, [s[4:5] - 2147483649]" E, "asm-range", "f:2:31", "displacement"},
        {K "global_load_b32 v0, [s[4:5] + 1.5]" E, "asm-operand-type", "f:2:31", "integer"},
        {K "global_load_b32 v0, [s[4:5] + m0]" E, "asm-address", "f:2:31", "mask"},
        {K "global_load_b32 v0, [s[4:5] + 4" E, "asm-syntax", "f:2:32", "`]`"},
        {K "local_load_b32 v0, [s4 + v1]" E, "asm-address", "f:2:20", "not both"},
        {K "local_load_b32 v0, [s[4:5]]" E, "asm-address", "f:2:20", "32 bits"},
        {K "local_load_b32 v0, [4*v0]" E, "asm-unknown-name", "f:2:23", "v0"},
        {K ".lds 8\nlocal_load_b32 v0, [8]" E, "verify-local-range", "f:3", "8 bytes"},
        {K ".lds 8\nlocal_load_b32 v0, [-4]" E, "verify-local-range", "f:3", "-4"},
        {K ".lds 8\nlocal_load_b32 v0, [2]" E, "verify-local-alignment", "f:3", "multiple of 4"},
    };

    (void)state;
    REFUSE_ALL(table);
}

static void refuses_wrong_structure(void **state)
{
    static const struct mistake table[] = {
        {"", "asm-no-kernel", "f:1:1", ".kernel NAME"},
        {"; only\n// comments", "asm-no-kernel", "f:1:1", "no kernel"},
        {K "s_end\n", "asm-unterminated", "f:1:1", "`k` does not end"},
        {K ".endkernel", "asm-empty-kernel", "f:1:1", "no instruction"},
        {K ".kernel j\n", "asm-nested-kernel", "f:2:1", "inside kernel `k`"},
        {".endkernel\n", "asm-outside-kernel", "f:1:1", ".endkernel"},
        {K "s_nop\n.endkernel", "asm-runs-off", "f:2:1", "run off its end"},
        {K "@m0 s_end\n.endkernel", "asm-runs-off", "f:2:5", "run off its end"},
        {K "s_end\n.endkernel\n" K "s_end\n.endkernel", "asm-duplicate-kernel", "f:4:1", "f:1"},
        {".kernel\n", "asm-syntax", "f:1:8", "kernel's name"},
        {".kernel a b\n", "asm-syntax", "f:1:11", "`b`"},
        {K ".form nosuch" E, "asm-form", "f:2:7", "predicated-all"},
        {K ".form goto\n.form goto" E, "asm-duplicate", "f:3:1", "twice"},
        {K ".param x f16" E, "asm-type", "f:2:10", "f32[]"},
        {K ".param x u8" E, "asm-type", "f:2:10", "scalar parameter"},
        {K ".param v3 f32" E, "asm-reserved", "f:2:8", "`v3`"},
        {K ".param x f32\n.param x f32" E, "asm-duplicate", "f:3:8", "`x`"},
        {K "s_nop\n.param x f32" E, "asm-directive-order", "f:3:1", ".param"},
        {K ".sregs 4\n.param x f32" E, "asm-directive-order", "f:3:1", ".sregs"},
        {K ".param x f32[]\n.sregs 1" E, "asm-range", "f:3:8", "between 2 and 104"},
        {K ".vregs 257" E, "asm-range", "f:2:8", "between 0 and 256"},
        {K ".vregs 4\nv_mov_b32 v4, 1" E, "asm-undeclared-register", "f:3:11", ".vregs"},
        {K ".sregs 4\ns_mov_b64 s[4:5], 1" E, "asm-undeclared-register", "f:3:11", ".sregs"},
        {K ".lds -1" E, "asm-range", "f:2:6", "local memory"},
        {K ".local b 4\n.lds 4" E, "asm-directive-order", "f:3:1", ".lds"},
        {K ".nosuch" E, "asm-unknown-directive", "f:2:1", "README"},
        {K ".parm x f32" E, "asm-unknown-directive", "f:2:1", "did you mean `.param`"},
        {".const\n", "asm-syntax", "f:1:7", "constant's name"},
        {".const x 1\n.const x 2\n", "asm-duplicate", "f:2:8", "`x`"},
        {".const v_add_u32 1\n", "asm-reserved", "f:1:8", "mnemonic"},
        {".const x 1/0\n", "asm-expression", "f:1:11", "zero"},
        {".const x 1<<64\n", "asm-expression", "f:1:11", "shift"},
        {".const x 1<2\n", "asm-character", "f:1:11", "`<`"},
        {".const x 18446744073709551615+1\n", "asm-range", "f:1:30", "64 bits"},
        {".const x (1\n", "asm-syntax", "f:1:12", "`)`"},
        {".include \"nosuch.hasm\"\n", "asm-include", "f:1:1", "nosuch.hasm"},
        {".include nosuch\n", "asm-syntax", "f:1:10", "quotes"},
        {".form exec\n", "asm-outside-kernel", "f:1:1", ".form"},
        {K ".form predicated\nm_mov exec, m0" E, "verify-exec", "f:3", "EXEC is written"},
    };

    (void)state;
    REFUSE_ALL(table);
}

/* PB-38: labels that are undefined, defined twice, equal to other names, without an instruction, in another kernel. */
static void test_pb38_labels(void **state)
{
    static const struct mistake table[] = {
        {K "  s_jump nowhere" E, "asm-undefined-label", "f:2:10", "`nowhere`"},
        {K "x: s_nop\nx: s_nop" E, "asm-duplicate-label", "f:3:1", "f:2"},
        {K "v_add_u32: s_nop" E, "asm-reserved", "f:2:1", "v_add_u32"},
        {K "v1: s_nop" E, "asm-reserved", "f:2:1", "v1"},
        {K "vcc: s_nop" E, "asm-reserved", "f:2:1", "vcc"},
        {K "s_jump v1" E, "asm-operand-kind", "f:2:8", "no label"},
        {K "s_jump 3" E, "asm-operand-kind", "f:2:8", "goes to a label"},
        {K "s_end\nx:\n.endkernel", "asm-label-at-end", "f:3:1", "behind it"},
        {K "s_jump there" E ".kernel j\nthere: s_end\n.endkernel", "asm-undefined-label", "f:2:8",
         "stays in its kernel"},
        {".kernel j\nthere: s_end\n.endkernel\n" K "s_jump there" E, "asm-undefined-label", "f:5:8",
         "stays in its kernel"},
        {K "x.y: s_nop" E, "asm-name", "f:2:1", "letters, digits"},
    };

    (void)state;
    REFUSE_ALL(table);
}

/* PB-38: immediates that do not fit are never cut. */
static void test_pb38_immediates(void **state)
{
    static const struct mistake table[] = {
        {K "v_mov_b32 v0, 4294967296" E, "asm-range", "f:2:15", "4294967295"},
        {K "v_mov_b32 v0, -2147483649" E, "asm-range", "f:2:15", "-2147483648"},
        {K "v_cmp_lt_i32 m0, v0, 2147483648" E, "asm-range", "f:2:22", "2147483647"},
        {K "v_cmp_lt_i32 m0, v0, 0x100000000" E, "asm-range", "f:2:22", "4294967295"},
        {K "s_mov_b64 s[0:1], 18446744073709551616" E, "asm-range", "f:2:19", "64 bits"},
        {K "s_mov_b64 s[0:1], -9223372036854775809" E, "asm-range", "f:2:19", "-9223372036854775808"},
        {K "v_mov_b32 v0, 0x" E, "asm-number", "f:2:15", "0x"},
        {K "v_mov_b32 v0, 0b" E, "asm-number", "f:2:15", "0b"},
        {K "v_mov_b32 v0, 0b12" E, "asm-number", "f:2:15", "binary"},
        {K "v_mov_b32 v0, 08" E, "asm-number", "f:2:15", "octal"},
        {K "v_mov_b32 v0, 12ab" E, "asm-number", "f:2:15", "12ab"},
        {K "v_mov_b32 v0, 0xfg" E, "asm-number", "f:2:15", "0xfg"},
        {K "v_mov_b32 v0, ''" E, "asm-character", "f:2:15", "one character"},
        {K "v_mov_b32 v0, 'ab'" E, "asm-character", "f:2:15", "one character"},
        {K "v_add_u32 v0, v0, 1e3" E, "asm-operand-type", "f:2:19", "is a float"},
        {K "v_add_f32 v0, v0, 3.4e39" E, "asm-range", "f:2:19", "greatest f32"},
        {K "v_add_f32 v0, v0, 1e-50" E, "asm-range", "f:2:19", "least f32"},
        {K "v_add_f64 v[0:1], v[0:1], 1e309" E, "asm-range", "f:2:27", "greatest f64"},
        {K "v_add_f32 v0, v0, 16777217" E, "asm-range", "f:2:19", "is no f32"},
        {K "v_add_f32 v0, v0, 0x10" E, "asm-operand-type", "f:2:19", "bits(0x3f800000)"},
        {K "v_add_f32 v0, v0, bits(0x100000000)" E, "asm-range", "f:2:19", "4294967295"},
        {K "v_add_f32 v0, v0, -nan" E, "asm-operand-type", "f:2:19", "canonical"},
        {K "v_add_f32 v0, v0, 1.2.3" E, "asm-number", "f:2:19", "1.2.3"},
        {K "v_mov_b32 v0, 1.5 << 2" E, "asm-operand-type", "f:2:19", "shifted"},
        {K ".lds 70000000" E, "asm-range", "f:2:6", "16777216"},
        {K ".vregs 1.5" E, "asm-operand-type", "f:2:8", "integer"},
    };

    (void)state;
    REFUSE_ALL(table);
}

static void refuses_wrong_macros_and_funcs(void **state)
{
    static const struct mistake table[] = {
        {".macro a\n", "asm-unterminated", "f:1:1", ".endmacro"},
        {".endmacro\n", "asm-unterminated", "f:1:1", "without its beginning"},
        {".macro a x x\n.endmacro\n", "asm-syntax", "f:1:12", "`,`"},
        {".macro a x, x\n.endmacro\n", "asm-duplicate", "f:1:11", "`x` twice"},
        {".macro s_end\n.endmacro\n", "asm-reserved", "f:1:8", "s_end"},
        {".macro a\n.endmacro\n.macro a\n.endmacro\n", "asm-duplicate", "f:3:8", ".once"},
        {".macro a x\n.endmacro\n" K "a" E, "asm-arguments", "f:4:1", "takes 1 arguments, not 0"},
        {".macro a x\n.endmacro\n" K "a 1, 2" E, "asm-arguments", "f:4:6", "one more"},
        {".macro a x\n.endmacro\n" K "a ," E, "asm-arguments", "f:4:3", "empty"},
        {".macro a\n a\n.endmacro\n" K "a" E, "asm-recursion", "f:2:2", "itself"},
        {".macro a\n b\n.endmacro\n.macro b\n a\n.endmacro\n" K "a" E, "asm-recursion", "f:5:2",
         "`a`"},
        {".macro a x\n\n v_mov_b32 v0, \\x\n.endmacro\n" K "a s_end" E, "asm-unknown-name",
         "f:3:16", "in macro `a`, used at f:6"},
        {".macro a\n.endmacro\n" K "@m0 a" E, "asm-predicate", "f:4:5", "no predicate"},
        {K ".rept 2\ns_nop\n.endkernel\n", "asm-unterminated", "f:2:1", ".endrept"},
        {K ".rept -1\n.endrept" E, "asm-range", "f:2:7", "a count"},
        {".func f(v a)\n", "asm-unterminated", "f:1:1", ".endfunc"},
        {".func f\n.endfunc\n", "asm-syntax", "f:1:8", "`(`"},
        {".func f(x a)\n.endfunc\n", "asm-func", "f:1:9", "v64"},
        {".func f(v a, v a)\n.endfunc\n", "asm-duplicate", "f:1:16", "`a` twice"},
        {".func f(v v1)\n.endfunc\n", "asm-reserved", "f:1:11", "`v1`"},
        {".func f() .uses v9-v3\n.endfunc\n", "asm-func", "f:1:20", "behind its first"},
        {".func f() .uses exec\n.endfunc\n", "asm-func", "f:1:17", "exec"},
        {K "call nosuch, v1" E, "asm-unknown-func", "f:2:6", "nosuch"},
        {".func f(v a)\n.endfunc\n" K "call f" E, "asm-arguments", "f:4:6", "takes 1"},
        {".func f(v a)\n.endfunc\n" K "call f, v1, v2" E, "asm-arguments", "f:4:6", "takes 1"},
        {".func f(v a)\n.endfunc\n" K "call f, s1" E, "asm-arguments", "f:4:9", "`s1`"},
        {".func f(v64 a)\n.endfunc\n" K "call f, v2" E, "asm-arguments", "f:4:9", "v64"},
        {".func f(v a)\n.endfunc\n" K "call f, 3" E, "asm-arguments", "f:4:9", "registers"},
        {".func f(v a) .uses v20-v31\n.endfunc\n" K "call f, v25" E, "asm-func-uses", "f:4:9",
         "`v25`"},
        {".func f(v a)\n v_mov_b32 v3, a\n.endfunc\n" K "call f, v1" E, "asm-func-uses", "f:2:12",
         "in func `f`, used at f:5"},
        {".func f()\n call f\n.endfunc\n" K "call f" E, "asm-recursion", "f:2:7", "itself"},
        {".func f()\n call g\n.endfunc\n.func g()\n call f\n.endfunc\n" K "call f" E,
         "asm-recursion", "f:5:7", "`f`"},
        {".func f()\n ret\n s_nop\n.endfunc\n" K "call f" E, "asm-ret", "f:3:2", "not the last"},
        {K "ret" E, "asm-ret", "f:2:1", "outside a func"},
        {".func f()\n s_jump out\n.endfunc\n" K "call f\nout: s_end\n.endkernel",
         "asm-undefined-label", "f:2:9", "stays in its kernel"},
        {".func f(v a)\n v_mov_b32 a.lo, 1\n.endfunc\n" K "call f, v1" E, "asm-operand-type",
         "f:2:12", "one register"},
    };

    (void)state;
    REFUSE_ALL(table);
}

static void refuses_wrong_regions(void **state)
{
    static const struct mistake table[] = {
        {K ".if m0" E, "asm-unterminated", "f:2:1", ".endif"},
        {K ".loop" E, "asm-unterminated", "f:2:1", ".endloop"},
        {K ".if" E, "asm-operand-kind", "f:2:4", "mask"},
        {K ".if v0\n.endif" E, "asm-operand-kind", "f:2:5", "mask"},
        {K ".else" E, "asm-region", "f:2:1", ".else"},
        {K ".if m0\n.else\n.else\n.endif" E, "asm-region", "f:4:1", "second .else"},
        {K ".endif" E, "asm-region", "f:2:1", ".endif"},
        {K ".loop\n.endif" E, "asm-region", "f:3:1", ".endif"},
        {K ".if m0\n.endloop" E, "asm-region", "f:3:1", ".endloop"},
        {K ".if m0\n.break\n.endif" E, "asm-region", "f:3:1", ".break"},
        {K ".continue m0" E, "asm-region", "f:2:1", ".continue"},
        {K ".if m0\n v_cmp_lt_u32 m9, v0, 1\n.endif" E, "asm-owned-register", "f:3:2", "`m9`"},
        {K ".if m15\n.endif" E, "asm-owned-register", "f:2:1", "`m15`"},
        {K "@m8 v_mov_b32 v0, 1\n.if m0\n.endif" E, "asm-owned-register", "f:2:5", "`m8`"},
        {K ".form goto\n.if m0\n.endif" E, "asm-form", "f:1:1", ".form predicated"},
        {K ".if m0\n s_end\n.endif\n.endkernel", "asm-runs-off", "f:4:1", "behind this region"},
    };

    (void)state;
    REFUSE_ALL(table);
}

static void names_the_line_of_a_scalar_pair_used_by_hand(void **state)
{
    /* eight nested regions need one scalar pair: of .sregs 20 it is s[18:19] */
    static const struct mistake m = {"", "asm-owned-register", "f:3:1", "`s19`"};
    char text[512] = K ".sregs 20\ns_mov_b32 s19, 1\n";

    (void)state;
    for (int i = 0; i < 8; i++)
        strcat(text, ".if m0\n");
    for (int i = 0; i < 8; i++)
        strcat(text, ".endif\n");
    strcat(text, E);
    assert_true(refused(text, strlen(text), &m));
}

/* PB-38: NUL, a line of 1 MB; CRLF, tabs and a missing last newline mean what they mean without. */
static void test_pb38_bytes(void **state)
{
    static const struct mistake nul = {"", "asm-nul", "f:2:4", "NUL"};
    static const struct mistake longline = {"", "asm-line-length", "f:2:1", "1048576 bytes"};
    static const char unix_text[] = K "v_mov_b32 v0, 1\nx: s_jump x\n.endkernel\n";
    static const char dos_text[] =
        ".kernel k\r\n\tv_mov_b32\tv0,\t1 \r\nx:\ts_jump x\r\n.endkernel";
    size_t n = strlen(K) + 1048576;
    char *text = malloc(n + 1);
    struct isa_program *a, *b;

    (void)state;
    assert_true(refused(K "s_n\0p" E, sizeof(K "s_n\0p" E) - 1, &nul));
    assert_non_null(text);
    memset(text, 'a', n);
    memcpy(text, K, strlen(K));
    text[n] = '\0';
    assert_true(refused(text, n, &longline));
    free(text);
    assert_int_equal(isa_assemble_text("u", unix_text, strlen(unix_text), NULL, 0, &a, NULL), HD_OK);
    assert_int_equal(isa_assemble_text("d", dos_text, strlen(dos_text), NULL, 0, &b, NULL), HD_OK);
    assert_int_equal(a->code_bytes, b->code_bytes);
    assert_memory_equal(a->code, b->code, a->code_bytes);
    isa_program_free(a);
    isa_program_free(b);
}

/* 50,000 nested parentheses are an error, whatever the stack. */
static void refuses_nesting_without_end(void **state)
{
    static const struct mistake parens = {"", "asm-expression", "f:1:110", "100 nested"};
    char text[60000] = ".const x ";

    (void)state;
    for (int i = 0; i < 50000; i++)
        strcpy(text + 9 + i, "(");
    assert_true(refused(text, strlen(text), &parens));
}

static void refuses_a_missing_file(void **state)
{
    struct isa_program *program;
    struct hd_error err;

    (void)state;
    assert_int_equal(isa_assemble_file("/nonexistent/x.hasm", NULL, 0, &program, &err),
                     HD_BAD_INPUT);
    assert_null(program);
    assert_string_equal(err.code, "asm-file");
    assert_string_equal(err.place, "/nonexistent/x.hasm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_wrong_instructions),
        cmocka_unit_test(refuses_wrong_addresses),
        cmocka_unit_test(refuses_wrong_structure),
        cmocka_unit_test(test_pb38_labels),
        cmocka_unit_test(test_pb38_immediates),
        cmocka_unit_test(test_pb38_bytes),
        cmocka_unit_test(refuses_wrong_macros_and_funcs),
        cmocka_unit_test(refuses_wrong_regions),
        cmocka_unit_test(names_the_line_of_a_scalar_pair_used_by_hand),
        cmocka_unit_test(refuses_nesting_without_end),
        cmocka_unit_test(refuses_a_missing_file),
    };

    return cmocka_run_group_tests_name("asm_errors", tests, NULL, NULL);
}
