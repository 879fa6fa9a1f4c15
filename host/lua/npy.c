#include "host/lua/npy.h"

#include "host/results/outfile.h"
#include "sim/base/checked.h"
#include "sim/base/regular.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREAMBLE = 8,       /* magic and version */
    HEADER_ALIGN = 64,  /* the elements start at a multiple of it */
    HEADER_MAX = 65536, /* more is not a header of ours; versions 2 and 3 allow 4 GiB */
};

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static enum hd_status bad(struct hd_error *err, const char *path, const char *what)
{
    return hd_error_set(err, HD_BAD_INPUT, "npy-format", path,
                        "write it with numpy.save, one array without objects", "%s", what);
}

/* ---- header ----------------------------------------------------------------------------- */

struct header {
    char text[HEADER_MAX + 1];
};

static bool read_header(FILE *f, struct header *h)
{
    unsigned char start[PREAMBLE + 4];
    size_t field, length = 0;

    if (fread(start, 1, PREAMBLE, f) != PREAMBLE || memcmp(start, magic, sizeof magic) != 0 ||
        start[6] < 1 || start[6] > 3)
        return false;
    field = start[6] == 1 ? 2 : 4;
    if (fread(start + PREAMBLE, 1, field, f) != field)
        return false;
    for (size_t i = field; i-- > 0;)
        length = length << 8 | start[PREAMBLE + i];
    if (length > HEADER_MAX || fread(h->text, 1, length, f) != length)
        return false;
    h->text[length] = '\0';
    return strlen(h->text) == length;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\n");
}

/* What stands behind 'key': in the dictionary, or NULL. Keys never occur inside values. */
static const char *find_value(const char *dict, const char *key)
{
    char quoted[32];
    const char *at;

    snprintf(quoted, sizeof quoted, "'%s'", key);
    at = strstr(dict, quoted);
    if (!at)
        return NULL;
    at = skip_space(at + strlen(quoted));
    return *at == ':' ? skip_space(at + 1) : NULL;
}

/* "'<f4'" is descr; a type of one byte may be written with any byte order. */
static bool same_type(const char *value, const struct element_type *t)
{
    const size_t length = strlen(t->descr);

    if (value[0] != '\'' || strlen(value) < length + 2 || value[length + 1] != '\'')
        return false;
    if (t->bytes == 1)
        return strchr("|<>=", value[1]) && memcmp(value + 2, t->descr + 1, length - 1) == 0;
    return memcmp(value + 1, t->descr, length) == 0;
}

/* The number of elements and of dimensions of "(3, 4)"; false if it is not a tuple of numbers. */
static bool parse_shape(const char *at, uint64_t *count, unsigned *dimensions)
{
    *count = 1;
    *dimensions = 0;
    if (*at++ != '(')
        return false;
    for (;;) {
        char *end;
        uint64_t extent;

        at = skip_space(at);
        if (*at == ')')
            return true;
        if (*at < '0' || *at > '9')
            return false;
        errno = 0;
        extent = strtoull(at, &end, 10);
        if (errno != 0 || !u64_mul(*count, extent, count))
            return false;
        ++*dimensions;
        at = skip_space(end);
        if (*at == ',')
            at++;
        else if (*at != ')')
            return false;
    }
}

static enum hd_status check_header(const char *path, const char *dict, const struct element_type *t,
                                   uint64_t count, struct hd_error *err)
{
    const char *descr = find_value(dict, "descr");
    const char *fortran = find_value(dict, "fortran_order");
    const char *shape = find_value(dict, "shape");
    uint64_t elements;
    unsigned dimensions;

    if (!descr || !fortran || !shape || !parse_shape(shape, &elements, &dimensions))
        return bad(err, path, "the .npy header lacks descr, fortran_order or shape");
    if (!same_type(descr, t))
        return hd_error_set(err, HD_BAD_INPUT, "npy-type", path, "convert it with .astype() first",
                            "the file holds %.*s, the array needs '%s' (%s)",
                            (int)strcspn(descr, ",}"), descr, t->descr, t->name);
    if (strncmp(fortran, "False", 5) != 0 && dimensions > 1)
        return bad(err, path, "the file is in Fortran order");
    if (elements != count)
        return hd_error_set(err, HD_BAD_INPUT, "npy-count", path, NULL,
                            "the file holds %" PRIu64 " elements, the array %" PRIu64, elements,
                            count);
    return HD_OK;
}

/* ---- files ------------------------------------------------------------------------------ */

/* The elements must be exactly the rest of the file. */
static bool length_is(FILE *f, uint64_t bytes)
{
    const long start = ftell(f);
    long end;

    if (start < 0 || fseek(f, 0, SEEK_END) != 0)
        return false;
    end = ftell(f);
    return end >= start && (uint64_t)(end - start) == bytes && fseek(f, start, SEEK_SET) == 0;
}

static enum hd_status check_file(FILE *f, const char *path, const struct element_type *t,
                                 uint64_t count, struct hd_error *err)
{
    struct header *h = malloc(sizeof *h);
    enum hd_status status;

    if (!h)
        return hd_no_memory(err, "reading %s", path);
    if (read_header(f, h))
        status = check_header(path, h->text, t, count, err);
    else
        status = bad(err, path, "this is not a .npy file");
    free(h);
    if (status == HD_OK && !length_is(f, count * t->bytes))
        status = bad(err, path, "the file is shorter or longer than its header says");
    return status;
}

enum hd_status npy_open(const char *path, const struct element_type *t, uint64_t count, FILE **out,
                        struct hd_error *err)
{
    const char *why;
    FILE *f = regular_open(path, &why);
    enum hd_status status;

    if (!f)
        return hd_error_set(err, HD_BAD_INPUT, "data-open", path, NULL, "cannot open the file: %s",
                            why);
    status = check_file(f, path, t, count, err);
    if (status == HD_OK)
        *out = f;
    else
        fclose(f);
    return status;
}

enum hd_status npy_read(FILE *f, const char *path, const struct element_type *t, uint64_t count,
                        void *to, struct hd_error *err)
{
    if (fread(to, t->bytes, count, f) != count)
        return hd_error_set(err, HD_BAD_INPUT, "data-read", path, NULL, "cannot read the file");
    return HD_OK;
}

static bool write_all(FILE *f, const struct element_type *t, uint64_t count, const void *from)
{
    char dict[HEADER_ALIGN * 3];
    unsigned char length[2];
    int used = snprintf(dict, sizeof dict,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }",
                        t->descr, count);
    /* Padded with spaces, and a newline last, so that the elements are aligned. */
    const int before = PREAMBLE + 2;
    const int total = (before + used + 1 + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN - before;

    memset(dict + used, ' ', (size_t)(total - used));
    dict[total - 1] = '\n';
    length[0] = (unsigned char)(total & 0xff);
    length[1] = (unsigned char)(total >> 8);
    return fwrite(magic, 1, sizeof magic, f) == sizeof magic && fwrite("\1\0", 1, 2, f) == 2 &&
           fwrite(length, 1, 2, f) == 2 && fwrite(dict, 1, (size_t)total, f) == (size_t)total &&
           fwrite(from, t->bytes, count, f) == count;
}

enum hd_status npy_write(const char *path, const struct element_type *t, uint64_t count,
                         const void *from, struct hd_error *err)
{
    struct out_file out;
    enum hd_status status = out_open(&out, path, err);

    if (status)
        return status;
    if (!write_all(out.file, t, count, from))
        out.broken = errno ? errno : EIO;
    return out_commit(&out, err);
}
