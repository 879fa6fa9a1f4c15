/* Signatures against kernels, and arguments against signatures (PB-13): what is refused, in which words, and that nothing happens. */
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a module with every kind of parameter -------------------------------------------------------------- */

static void add_param(struct isa_kernel *k, const char *name, enum isa_type type, bool is_array)
{
    struct isa_param *p = &k->params[k->nparams++];

    snprintf(p->name, sizeof p->name, "%s", name);
    p->type = (uint8_t)type;
    p->is_array = is_array;
}

static hd_module *make_module(struct rig *r)
{
    struct isa_program *p = calloc(1, sizeof *p);
    hd_module *m;

    assert_non_null(p);
    p->nkernels = 2;
    p->kernels = calloc(p->nkernels, sizeof *p->kernels);
    assert_non_null(p->kernels);
    snprintf(p->kernels[0].name, ISA_NAME_MAX, "scale");
    add_param(&p->kernels[0], "x", T_F32, true);
    add_param(&p->kernels[0], "y", T_F32, true);
    add_param(&p->kernels[0], "n", T_I32, false);
    snprintf(p->kernels[1].name, ISA_NAME_MAX, "scalars");
    add_param(&p->kernels[1], "f", T_F32, false);
    add_param(&p->kernels[1], "d", T_F64, false);
    add_param(&p->kernels[1], "u", T_U8, false);
    add_param(&p->kernels[1], "l", T_I64, false);
    add_param(&p->kernels[1], "b", T_B32, false);
    p->kernels[0].forms = p->kernels[1].forms = ISA_FORM_ALL;
    assert_int_equal(module_adopt(r->rt, "args.hasm", p, &m, NULL), HD_OK);
    return m;
}

/* ---- signatures -------------------------------------------------------------------------------------- */

static void test_signatures(void **state)
{
    static const struct {
        const char *text, *code, *part; /* code NULL: accepted; part of the message */
    } rows[] = {
        {"x: in f32[], y: out f32[], n: i32", NULL, NULL},
        {"x: const f32 [ ] ,y:inout f32[],n:i32", NULL, NULL},
        {"a: input f32[], b: output f32[], c: in i32", NULL, NULL},
        {"\tx: f32[],\n y: f32[], n: i32 ", NULL, NULL},
        {"", "signature-count", "kernel scale: expected 3 parameters, given 0"},
        {"x: f32[], y: f32[]", "signature-count", "expected 3 parameters, given 2"},
        {"x: f32[], y: f32[], n: i32, m: i32", "signature-count", "expected 3 parameters, given 4"},
        {"x: f32[], y: f32[], n: f32", "signature-type",
         "kernel scale, parameter 3 (n): expected i32, given f32"},
        {"x: f64[], y: f32[], n: i32", "signature-type",
         "parameter 1 (x): expected f32[], given f64[]"},
        {"x: f32[], y: f32, n: i32", "signature-type", "parameter 2 (y): expected f32[], given f32"},
        {"x: f32[], y: f32[], n: i32[]", "signature-type",
         "parameter 3 (n): expected i32, given i32[]"},
        {"x: f32[], y: f32[], n: u32", "signature-type", "expected i32, given u32"},
        {"x: f32[], y: f32[], n: out i32", "signature-syntax", "parameter 3: expected an array"},
        {"x: f32[], y: f32[], n: int", "signature-syntax", "given \"int\""},
        {"x: f32[], y: f32[], n", "signature-syntax", "parameter 3: expected a colon"},
        {"x: f32[], , n: i32", "signature-syntax", "parameter 2: expected a name"},
        {"x: f32[", "signature-syntax", "parameter 1: expected [] after"},
        {"x: f32[] y: f32[]", "signature-syntax", "expected a comma or the end, given \"y: f32[]\""},
        {"x: b32[], y: f32[], n: i32", "signature-syntax", "a type from i8 to f64"},
        {"x: f32[], y: f32[], n: i32,", "signature-syntax", "parameter 4"},
        {"x: in in f32[], y: f32[], n: i32", "signature-syntax", "a type from i8 to f64"},
    };
    struct rig *r = rig_new("");
    hd_module *m = make_module(r);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hd_error err;
        hd_kernel *k;
        enum hd_status status = hd_kernel_get(r->rt, m, "scale", rows[i].text, &k, &err);

        assert_int_equal(status, rows[i].code ? HD_BAD_INPUT : HD_OK);
        if (!rows[i].code) {
            assert_int_equal(hd_kernel_params(k), 3);
            assert_string_equal(hd_kernel_name(k), "scale");
            continue;
        }
        assert_null(k);
        assert_string_equal(err.code, rows[i].code);
        if (!strstr(err.message, rows[i].part))
            fail_msg("\"%s\" is not in \"%s\"", rows[i].part, err.message);
    }
    rig_free(r);
}

static void test_annotations(void **state)
{
    static const struct {
        const char *annotation;
        bool read_only;
    } rows[] = {{"in", true},     {"const", true},   {"input", true}, {"out", false},
                {"inout", false}, {"output", false}, {"", false}};
    struct rig *r = rig_new("");
    hd_module *m = make_module(r);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        hd_kernel *k;

        snprintf(text, sizeof text, "x: %s f32[], y: f32[], n: i32", rows[i].annotation);
        assert_int_equal(hd_kernel_get(r->rt, m, "scale", text, &k, NULL), HD_OK);
        assert_int_equal(k->params[0].read_only, rows[i].read_only);
    }
    rig_free(r);
}

static void test_more_parameters_than_a_kernel_can_have(void **state)
{
    struct rig *r = rig_new("");
    hd_module *m = make_module(r);
    struct text text = {0};
    struct hd_error err;
    hd_kernel *k;

    (void)state;
    for (int i = 0; i < 100; i++)
        text_add(&text, "%sp%d: i32", i ? ", " : "", i);
    assert_int_equal(hd_kernel_get(r->rt, m, "scale", text_str(&text), &k, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "signature-syntax");
    text_free(&text);
    rig_free(r);
}

static void test_unknown_kernel(void **state)
{
    struct rig *r = rig_new("");
    hd_module *m = make_module(r);
    struct hd_error err;
    hd_kernel *k;

    (void)state;
    assert_int_equal(hd_kernel_get(r->rt, m, "scael", "", &k, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "kernel-unknown");
    assert_string_equal(err.hint, "did you mean scale?");
    rig_free(r);
}

/* ---- arguments --------------------------------------------------------------------------------------- */

struct fixture {
    struct rig *r;
    hd_kernel *scale, *scalars;
    hd_array *x, *y, *doubles, *freed;
};

static void make_fixture(struct fixture *f)
{
    hd_module *m;

    f->r = rig_new("");
    m = make_module(f->r);
    assert_int_equal(
        hd_kernel_get(f->r->rt, m, "scale", "x: in f32[], y: out f32[], n: i32", &f->scale, NULL),
        HD_OK);
    assert_int_equal(hd_kernel_get(f->r->rt, m, "scalars", "f: f32, d: f64, u: u8, l: i64, b: u32",
                                   &f->scalars, NULL),
                     HD_OK);
    f->x = rig_array(f->r, "x");
    f->y = rig_array(f->r, "y");
    f->freed = rig_array(f->r, "gone");
    assert_int_equal(hd_array_free(f->r->rt, f->freed, NULL), HD_OK);
    assert_int_equal(hd_array_new(f->r->rt, T_F64, 4, "doubles", &f->doubles, NULL), HD_OK);
}

static struct hd_arg array(hd_array *a)
{
    return (struct hd_arg){HD_ARG_ARRAY, {.array = a}};
}

static struct hd_arg integer(int64_t i)
{
    return (struct hd_arg){HD_ARG_INT, {.i = i}};
}

static struct hd_arg number(double f)
{
    return (struct hd_arg){HD_ARG_FLOAT, {.f = f}};
}

static enum hd_status launch(struct fixture *f, hd_kernel *k, const struct hd_arg *args, unsigned n,
                             struct hd_error *err)
{
    struct hd_launch l = {
        .kernel = k, .grid = {4, 0, 0}, .block = {64, 0, 0}, .args = args, .nargs = n};

    return hd_launch_kernel(f->r->rt, &l, err);
}

static void expect_refused(struct fixture *f, const struct hd_arg *args, unsigned n,
                           const char *message)
{
    uint64_t host = hd_host_time(f->r->rt);
    size_t commands = fake_count(f->r->machine);
    struct hd_error err;

    assert_int_equal(launch(f, f->scale, args, n, &err), HD_BAD_INPUT);
    assert_string_equal(err.message, message);
    assert_int_equal(hd_host_time(f->r->rt), host);
    assert_int_equal(fake_count(f->r->machine), commands);
    assert_int_equal(f->r->nodes.len, 0);
}

static void test_pb13_wrong_arguments(void **state)
{
    struct fixture f;

    (void)state;
    make_fixture(&f);
    {
        struct hd_arg good[] = {array(f.x), array(f.y), integer(3), integer(4)};

        expect_refused(&f, good, 2, "kernel scale: expected 3 arguments, given 2");
        expect_refused(&f, good, 4, "kernel scale: expected 3 arguments, given 4");
        expect_refused(&f, NULL, 0, "kernel scale: expected 3 arguments, given 0");
    }
    {
        struct hd_arg args[] = {array(f.x), array(f.y), array(f.x)};

        expect_refused(&f, args, 3,
                       "kernel scale, argument 3 (n): expected i32, given the array f32[] (x)");
        args[2] = number(3.5);
        expect_refused(&f, args, 3, "kernel scale, argument 3 (n): expected i32, given 3.5");
        args[2] = array(NULL);
        expect_refused(&f, args, 3, "kernel scale, argument 3 (n): expected i32, given nil");
        args[2] = integer(INT64_C(2147483648));
        expect_refused(&f, args, 3,
                       "kernel scale, argument 3 (n): expected i32, given 2147483648, which is out "
                       "of its range");
        args[2] = number(NAN);
        expect_refused(&f, args, 3, "kernel scale, argument 3 (n): expected i32, given nan");
        args[2] = number(1e300);
        expect_refused(&f, args, 3,
                       "kernel scale, argument 3 (n): expected i32, given 1.0000000000000001e+300");
        args[2] = integer(3);
        args[0] = integer(7);
        expect_refused(&f, args, 3, "kernel scale, argument 1 (x): expected f32[], given 7");
        args[0] = array(NULL);
        expect_refused(&f, args, 3, "kernel scale, argument 1 (x): expected f32[], given nil");
        args[0] = array(f.freed);
        expect_refused(&f, args, 3,
                       "kernel scale, argument 1 (x): expected f32[], given the freed array f32[] "
                       "(gone)");
        args[0] = array(f.doubles);
        expect_refused(&f, args, 3,
                       "kernel scale, argument 1 (x): expected f32[], given the array f64[] "
                       "(doubles)");
        args[0] = array(f.x);
        args[2] = number(3.0); /* a whole number is one */
        assert_int_equal(launch(&f, f.scale, args, 3, NULL), HD_OK);
    }
    rig_free(f.r);
}

static void test_arrays_of_another_runtime(void **state)
{
    struct fixture f;
    struct rig *other = rig_new("");
    struct hd_error err;
    void *data;

    (void)state;
    make_fixture(&f);
    {
        struct hd_arg args[] = {array(f.x), array(rig_array(other, "z")), integer(3)};

        expect_refused(&f, args, 3,
                       "kernel scale, argument 2 (y): expected f32[], given the array f32[] (z) of "
                       "another runtime");
    }
    assert_int_equal(hd_array_access(f.r->rt, rig_array(other, "z"), 0, 1, HD_READ, &data, &err),
                     HD_BAD_INPUT);
    assert_string_equal(err.code, "array-foreign");
    rig_free(other);
    rig_free(f.r);
}

static uint64_t bound_bits(struct fixture *f, unsigned position, struct hd_arg arg)
{
    struct hd_arg args[] = {number(0), number(0), integer(0), integer(0), integer(0)};
    struct rt_computation c = {0};
    uint64_t values[5];

    args[position] = arg;
    assert_int_equal(args_bind(f->scalars, args, 5, values, &c, NULL), HD_OK);
    assert_int_equal(c.narrays, 0);
    return values[position];
}

static bool binds(struct fixture *f, unsigned position, struct hd_arg arg)
{
    struct hd_arg args[] = {number(0), number(0), integer(0), integer(0), integer(0)};
    struct rt_computation c = {0};
    uint64_t values[5];

    args[position] = arg;
    return args_bind(f->scalars, args, 5, values, &c, NULL) == HD_OK;
}

static void test_bits_of_values(void **state)
{
    struct fixture f;

    (void)state;
    make_fixture(&f);
    assert_int_equal(bound_bits(&f, 0, number(1.5)), 0x3fc00000);
    assert_int_equal(bound_bits(&f, 0, integer(-2)), 0xc0000000);
    assert_int_equal(bound_bits(&f, 0, number(INFINITY)), 0x7f800000);
    assert_true(bound_bits(&f, 1, number(-0.5)) == UINT64_C(0xbfe0000000000000));
    assert_int_equal(bound_bits(&f, 2, integer(255)), 255);
    assert_true(bound_bits(&f, 3, integer(-1)) == UINT64_MAX);
    assert_true(bound_bits(&f, 3, number(-0x1p63)) == UINT64_C(1) << 63);
    assert_true(bound_bits(&f, 4, integer(4294967295)) == UINT64_C(0xffffffff));
    assert_false(binds(&f, 0, number(3.5e38)));
    assert_true(binds(&f, 0, number(3.4028235e38)));
    assert_false(binds(&f, 2, integer(256)));
    assert_false(binds(&f, 2, integer(-1)));
    assert_false(binds(&f, 3, number(0x1p63)));
    assert_false(binds(&f, 4, integer(4294967296)));
    rig_free(f.r);
}

static void test_shapes(void **state)
{
    struct fixture f;
    struct hd_error err;

    (void)state;
    make_fixture(&f);
    {
        struct hd_arg args[] = {array(f.x), array(f.y), integer(3)};
        struct hd_launch l = {
            .kernel = f.scale, .grid = {0, 0, 0}, .block = {64, 0, 0}, .args = args, .nargs = 3};

        assert_int_equal(hd_launch_kernel(f.r->rt, &l, &err), HD_BAD_INPUT);
        assert_string_equal(err.message, "kernel scale: expected 1 to 4294967295 blocks, given 0");
        l.grid[0] = 1;
        l.block[1] = UINT64_C(1) << 32;
        assert_int_equal(hd_launch_kernel(f.r->rt, &l, &err), HD_BAD_INPUT);
        assert_string_equal(err.message,
                            "kernel scale: expected 1 to 4294967295 threads, given 4294967296");
        l.block[1] = 0;
        l.dynamic_lds = UINT64_C(1) << 40;
        assert_int_equal(hd_launch_kernel(f.r->rt, &l, &err), HD_BAD_INPUT);
        assert_string_equal(err.code, "launch-local-memory");
        l.dynamic_lds = 0;
        assert_int_equal(fake_count(f.r->machine), 0);
        assert_int_equal(hd_launch_kernel(f.r->rt, &l, &err), HD_OK);
        assert_int_equal(fake_cmd(f.r->machine, 0)->launch.grid[1], 1);
        assert_int_equal(fake_cmd(f.r->machine, 0)->launch.block[2], 1);
    }
    rig_free(f.r);
}

/* A launch that only the machine can refuse leaves the order of the others as it is. */
static void test_a_refused_launch_keeps_the_graph_whole(void **state)
{
    struct rig *r = rig_new("");
    struct hd_error err;
    struct hd_arg arg = array(rig_array(r, "x"));
    struct hd_launch l = {.grid = {1, 0, 0}, .block = {2048, 0, 0}, .args = &arg, .nargs = 1};

    (void)state;
    rig_run(r, "a x=w @500");
    l.kernel = rig_kernel(r, "w");
    assert_int_equal(hd_launch_kernel(r->rt, &l, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "launch-shape");
    rig_run(r, "b x=r y=w @10; c x=r z=w @10; read y"); /* c is on another stream */
    assert_int_equal(hd_finish(r->rt, &err), HD_OK);
    rig_check_order(r, "after the refusal");
    assert_true(rig_stmt(r, "b")->hb.start_ps >= rig_stmt(r, "a")->hb.end_ps);
    assert_true(rig_stmt(r, "c")->hb.start_ps >= rig_stmt(r, "a")->hb.end_ps);
    assert_true(rig_stmt(r, "b")->hb.end_ps > 0);
    assert_int_equal(r->nwaits, 1);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_more_parameters_than_a_kernel_can_have),
        cmocka_unit_test(test_unknown_kernel),
        cmocka_unit_test(test_pb13_wrong_arguments),
        cmocka_unit_test(test_arrays_of_another_runtime),
        cmocka_unit_test(test_bits_of_values),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_a_refused_launch_keeps_the_graph_whole),
    };

    return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
