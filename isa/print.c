#include "isa/print.h"

#include <string.h>

/* The letter of the conversion that begins behind a percent sign; NULL if it is none. */
static const char *conversion_letter(const char *s)
{
    size_t digits;

    s += strspn(s, "-+ 0#");
    digits = strspn(s, "0123456789");
    if (digits > 2)
        return NULL;
    s += digits;
    if (*s == '.') {
        digits = strspn(s + 1, "0123456789");
        if (digits > 2)
            return NULL;
        s += 1 + digits;
    }
    return *s && strchr("diuxXfeg", *s) ? s : NULL;
}

const char *isa_print_wrong(const char *format)
{
    unsigned found = 0;

    for (const char *s = format; (s = strchr(s, '%')) != NULL; s++) {
        s++;
        if (*s == '%')
            continue;
        s = conversion_letter(s);
        if (!s)
            return "has a conversion that does not exist";
        found++;
    }
    return found == 1 ? NULL : found ? "has more than one conversion" : "has no conversion";
}

static double float_of(uint64_t bits, bool wide)
{
    const uint32_t low = (uint32_t)bits;
    double d;
    float f;

    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &low, sizeof f);
    return wide ? d : (double)f;
}

/* The conversion of `len` bytes from its percent sign to its letter. */
static void convert(const char *conversion, size_t len, uint64_t bits, bool wide, struct text *out)
{
    const char letter = conversion[len - 1];
    char spec[24];

    memcpy(spec, conversion, len - 1);
    if (strchr("feg", letter)) {
        memcpy(spec + len - 1, (const char[]){letter, '\0'}, 2);
        text_add(out, spec, float_of(bits, wide));
        return;
    }
    memcpy(spec + len - 1, (const char[]){'l', 'l', letter, '\0'}, 4);
    if (letter == 'd' || letter == 'i')
        text_add(out, spec, wide ? (long long)bits : (long long)(int32_t)(uint32_t)bits);
    else
        text_add(out, spec, wide ? (unsigned long long)bits : (unsigned long long)(uint32_t)bits);
}

void isa_print_value(const char *format, uint64_t bits, bool wide, struct text *out)
{
    const char *percent;

    for (; (percent = strchr(format, '%')) != NULL;) {
        text_add_bytes(out, format, (size_t)(percent - format));
        if (percent[1] == '%') {
            text_add_bytes(out, "%", 1);
            format = percent + 2;
            continue;
        }
        format = conversion_letter(percent + 1) + 1;
        convert(percent, (size_t)(format - percent), bits, wide, out);
    }
    text_add(out, "%s", format);
}
