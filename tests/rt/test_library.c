/* Library functions as computational elements. */
#include "host/rt/library.h"
#include "tests/rt/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define US UINT64_C(1000000) /* ps */

static void must(enum hd_status status)
{
    assert_int_equal(status, HD_OK);
}

static hd_library *library(struct rig *r, const char *signature, bool stream, const char *hidden)
{
    hd_array *arrays[1] = {hidden ? rig_array(r, hidden) : NULL};
    const struct hd_library_desc desc = {"gemm", signature, stream, arrays, hidden ? 1 : 0};
    hd_library *lib;
    struct hd_error err;

    if (hd_library_new(r->rt, &desc, &lib, &err) != HD_OK)
        fail_msg("%s", err.message);
    return lib;
}

static hd_stream *begin(struct rig *r, hd_library *lib, const char *x, const char *y)
{
    const struct hd_arg args[] = {{HD_ARG_ARRAY, {.array = rig_array(r, x)}},
                                  {HD_ARG_ARRAY, {.array = rig_array(r, y)}},
                                  {HD_ARG_INT, {.i = 3}}};
    struct hd_error err;
    hd_stream *s;

    if (hd_library_begin(r->rt, lib, args, 3, &s, &err) != HD_OK)
        fail_msg("%s", err.message);
    return s;
}

#define SIGNATURE "x: in f32[], y: inout f32[], n: i32"

/* Two kernels of the function. */
static void call(struct rig *r, hd_library *lib, const char *x, const char *y)
{
    begin(r, lib, x, y);
    rig_run(r, "inner1 y=w @50; inner2 x=r y=r @50");
    must(hd_library_end(r->rt, NULL));
}

static uint64_t start_of(const struct rig *r, const char *name)
{
    return rig_stmt(r, name)->hb.start_ps;
}

static uint64_t end_of(const struct rig *r, const char *name)
{
    return rig_stmt(r, name)->hb.end_ps;
}

static void test_a_call_is_one_element_of_the_graph(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    hd_library *lib = library(r, SIGNATURE, true, NULL);

    (void)state;
    rig_run(r, "before x=w y=r @1000; reader x=r @2000; beside q=w h=w @3000");
    call(r, lib, "x", "y");
    rig_run(r, "after y=r @10; beside_it y=r @10; free_of_it x=r h=w @10");
    must(hd_finish(r->rt, NULL));
    assert_int_equal(start_of(r, "inner1"), end_of(r, "before")); /* only reads x: not for reader */
    assert_int_equal(start_of(r, "inner2"), end_of(r, "inner1"));
    assert_int_equal(start_of(r, "after"), end_of(r, "inner2"));
    assert_int_equal(start_of(r, "beside_it"), end_of(r, "inner2")); /* on another stream */
    assert_true(end_of(r, "beside") > end_of(r, "inner2"));          /* h is no argument */
    assert_string_equal(text_str(&r->edge_text),
                        "before->reader[x] before->inner1[x+y] inner1->inner2[] inner2->after[y] "
                        "inner2->beside_it[y] "
                        "before->free_of_it[x] beside->free_of_it[h]");
    assert_int_equal(r->rt->dag.nlive, 0);
    rig_free(r);
}

static void test_its_stream_is_the_schedulers_choice(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    hd_library *lib = library(r, SIGNATURE, true, NULL);
    const hd_stream *first, *second;
    struct hd_error err;
    hd_stream *s;

    (void)state;
    rig_run(r, "a x=w @1000");
    first = s = begin(r, lib, "x", "y");
    assert_int_equal(hd_stream_free(r->rt, s, &err), HD_BAD_INPUT);
    assert_string_equal(err.code, "stream-automatic");
    must(hd_library_end(r->rt, NULL));
    second = begin(r, lib, "u", "v");
    must(hd_library_end(r->rt, NULL));
    assert_int_equal(first->number, r->nodes.at[0].stream); /* inherited from a */
    assert_int_not_equal(second->number, first->number);
    rig_run(r, "read y; read v"); /* a call that launched nothing is waited for as well */
    assert_true(hd_host_time(r->rt) >= end_of(r, "a"));
    rig_free(r);
}

/* The end of a call is an event, under the scheduler that has a graph to order it in. */
static void test_what_the_end_costs(void **state)
{
    static const char *const schedulers[] = {"parallel-async", "serial-async"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char settings[96];
        struct rig *r;
        hd_library *lib;
        uint64_t before;

        snprintf(settings, sizeof settings, "um.page_faults=on host.prefetch=off host.scheduler=%s",
                 schedulers[i]);
        r = rig_new(settings);
        lib = library(r, SIGNATURE, true, NULL);
        begin(r, lib, "x", "y");
        before = hd_host_time(r->rt);
        must(hd_library_end(r->rt, NULL));
        assert_int_equal(hd_host_time(r->rt) - before,
                         i == 0 ? r->rt->cost->event_record * UINT64_C(1000) : 0);
        rig_free(r);
    }
}

static void test_hidden_arrays_count_as_written(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=off");
    hd_library *lib = library(r, SIGNATURE, true, "h");

    (void)state;
    rig_run(r, "before h=r @1000");
    call(r, lib, "x", "y");
    rig_run(r, "after h=r @10");
    must(hd_finish(r->rt, NULL));
    assert_int_equal(start_of(r, "inner1"), end_of(r, "before"));
    assert_int_equal(start_of(r, "after"), end_of(r, "inner2"));
    rig_free(r);
}

static void test_its_arguments_are_prefetched(void **state)
{
    struct rig *r = rig_new("um.page_faults=on host.prefetch=on");
    hd_library *lib = library(r, SIGNATURE, true, NULL);

    (void)state;
    call(r, lib, "x", "y");
    must(hd_finish(r->rt, NULL));
    assert_int_equal(r->transfers.len, 2); /* x and y */
    assert_int_equal(r->transfers.at[0].node, rig_stmt(r, "inner1")->node);
    rig_free(r);
}

static void test_without_a_stream_all_is_waited_for(void **state)
{
    static const char *const schedulers[] = {"host.scheduler=serial-sync",
                                             "host.scheduler=serial-async", ""};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = rig_new(schedulers[i]);
        hd_library *lib = library(r, SIGNATURE, false, NULL);

        rig_run(r, "before q=w @1000");
        call(r, lib, "x", "y");
        assert_true(hd_host_time(r->rt) >= end_of(r, "inner2"));
        assert_true(start_of(r, "inner1") >= end_of(r, "before"));
        assert_int_equal(end_of(r, "inner2") - start_of(r, "inner2"), 50 * US);
        begin(r, lib, "x", "y");
        rig_run(r, "in x=w; read x"); /* the host may wait inside */
        must(hd_library_end(r->rt, NULL));
        rig_check_order(r, "library");
        rig_free(r);
    }
}

static void test_with_a_stream_under_serial_schedulers(void **state)
{
    static const char *const schedulers[] = {"host.scheduler=serial-sync",
                                             "host.scheduler=serial-async"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig *r = rig_new(schedulers[i]);
        hd_library *lib = library(r, SIGNATURE, true, NULL);

        rig_run(r, "before x=w @1000");
        call(r, lib, "x", "y");
        rig_run(r, "after y=w; read y");
        rig_check_order(r, "library");
        assert_int_equal(rig_streams_used(r), 1);
        rig_free(r);
    }
}

#define REFUSED(call, the_code)                                                                    \
    do {                                                                                           \
        assert_int_equal((call), HD_BAD_INPUT);                                                    \
        assert_string_equal(err.code, the_code);                                                   \
    } while (0)

static void test_what_is_refused_inside(void **state)
{
    struct rig *r = rig_new("");
    hd_library *lib = library(r, SIGNATURE, true, NULL);
    struct hd_arg arg = {HD_ARG_ARRAY, {.array = rig_array(r, "x")}};
    struct hd_launch l = {.kernel = rig_kernel(r, "w"),
                          .grid = {1, 0, 0},
                          .block = {1, 0, 0},
                          .args = &arg,
                          .nargs = 1};
    hd_stream *s, *got;
    struct hd_error err;
    hd_event *e;
    void *data;

    (void)state;
    must(hd_stream_new(r->rt, &s, NULL));
    begin(r, lib, "x", "y");
    l.stream = s;
    REFUSED(hd_launch_kernel(r->rt, &l, &err), "library-stream");
    REFUSED(hd_array_access(r->rt, rig_array(r, "q"), 0, 1, HD_READ, &data, &err),
            "library-refused");
    assert_string_equal(err.message,
                        "library function gemm takes a stream: an access of the host is "
                        "not allowed inside");
    REFUSED(hd_array_free(r->rt, rig_array(r, "q"), &err), "library-refused");
    REFUSED(hd_device_sync(r->rt, &err), "library-refused");
    REFUSED(hd_stream_sync(r->rt, s, &err), "library-refused");
    REFUSED(hd_event_record(r->rt, s, &e, &err), "library-refused");
    REFUSED(hd_capture_begin(r->rt, s, &err), "library-refused");
    REFUSED(hd_region_begin(r->rt, "main", 0, false, &err), "library-refused");
    REFUSED(hd_library_begin(r->rt, lib, &arg, 1, &got, &err), "library-nested");
    l.stream = NULL;
    REFUSED(hd_launch_kernel(r->rt, &l, &err), "library-array");
    assert_string_equal(
        err.message,
        "library function gemm launches k1, which may write array x: the call's arrays do not "
        "say so");
    must(hd_library_end(r->rt, NULL));
    REFUSED(hd_library_end(r->rt, &err), "library-none");
    REFUSED(hd_library_begin(r->rt, lib, &arg, 1, &got, &err), "argument-count");
    REFUSED(hd_library_begin(r->rt, NULL, &arg, 1, &got, &err), "library");
    must(hd_capture_begin(r->rt, s, NULL));
    REFUSED(hd_library_begin(r->rt, lib, &arg, 1, &got, &err), "capture-refused");
    hd_capture_abort(r->rt);
    rig_run(r, "x x=w; read x");
    rig_free(r);
}

static void test_bad_declarations(void **state)
{
    struct rig *r = rig_new("");
    const struct hd_library_desc bad = {"f", "x: huh", true, NULL, 0};
    hd_array *freed = rig_array(r, "x");
    const struct hd_library_desc late = {"f", "x: f32[]", true, &freed, 1};
    struct hd_error err;
    hd_library *lib;

    (void)state;
    assert_int_equal(hd_library_new(r->rt, &bad, &lib, &err), HD_BAD_INPUT);
    assert_null(lib);
    assert_non_null(strstr(err.message, "signature of library function f, parameter 1"));
    rig_run(r, "free x");
    REFUSED(hd_library_new(r->rt, &late, &lib, &err), "array-freed");
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_is_one_element_of_the_graph),
        cmocka_unit_test(test_its_stream_is_the_schedulers_choice),
        cmocka_unit_test(test_what_the_end_costs),
        cmocka_unit_test(test_hidden_arrays_count_as_written),
        cmocka_unit_test(test_its_arguments_are_prefetched),
        cmocka_unit_test(test_without_a_stream_all_is_waited_for),
        cmocka_unit_test(test_with_a_stream_under_serial_schedulers),
        cmocka_unit_test(test_what_is_refused_inside),
        cmocka_unit_test(test_bad_declarations),
    };

    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
