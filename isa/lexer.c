/* One line to tokens. */
#include "isa/asm_internal.h"

#include <string.h>

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '%';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return is_name_start(c) ? c != '%' : is_digit(c);
}

static bool add(struct assembler *as, enum token_kind kind, char punct, const char *at, size_t len,
                size_t col)
{
    struct token t = {(uint8_t)kind, punct, (uint32_t)col, {at, len}};

    return vec_push(&as->tokens, t) || asm_no_memory(as);
}

/* Length of the number that begins at s: digits, letters, dots, and a sign behind an exponent. */
static size_t number_length(const char *s, size_t len)
{
    bool hex = len > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    size_t i = 0;

    while (i < len) {
        char c = s[i], before = i ? s[i - 1] : '\0';
        bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';

        if (!is_name_char(c) && !((c == '+' || c == '-') && exponent))
            break;
        i++;
    }
    return i;
}

static bool lex_quoted(struct assembler *as, struct slice line, size_t *pos)
{
    char quote = line.at[*pos];
    size_t i = *pos + 1, begin = i;

    while (i < line.len && line.at[i] != quote)
        i += line.at[i] == '\\' ? 2 : 1;
    if (i >= line.len)
        return asm_fail(as, (uint32_t)*pos + 1, "asm-string",
                        "a text ends on the line where it begins", "%s without its closing %c",
                        quote == '"' ? "text" : "character", quote);
    *pos = i + 1;
    return add(as, quote == '"' ? TOK_STRING : TOK_CHAR, '\0', line.at + begin, i - begin, begin);
}

static bool lex_punct(struct assembler *as, struct slice line, size_t *pos)
{
    char c = line.at[*pos];
    size_t len = 1;

    if ((c == '<' || c == '>') && *pos + 1 < line.len && line.at[*pos + 1] == c)
        len = 2;
    else if (!strchr("[](),:+-*/@!#", c) || c == '\0') {
        if (c > ' ' && c < 127)
            return asm_fail(as, (uint32_t)*pos + 1, "asm-character", "",
                            "unexpected character `%c`", c);
        return asm_fail(as, (uint32_t)*pos + 1, "asm-character",
                        "a source is ASCII text outside comments and quoted text",
                        "unexpected byte 0x%02x", (unsigned char)c);
    }
    if (!add(as, TOK_PUNCT, c, line.at + *pos, len, *pos + 1))
        return false;
    *pos += len;
    return true;
}

static bool lex_token(struct assembler *as, struct slice line, size_t *pos)
{
    char c = line.at[*pos];
    size_t begin = *pos, i = begin;
    bool number = is_digit(c) || (c == '.' && i + 1 < line.len && is_digit(line.at[i + 1]));

    if (c == '"' || c == '\'')
        return lex_quoted(as, line, pos);
    if (!number && !is_name_start(c))
        return lex_punct(as, line, pos);
    if (number)
        i += number_length(line.at + begin, line.len - begin);
    else
        for (i++; i < line.len && is_name_char(line.at[i]);)
            i++;
    *pos = i;
    return add(as, number ? TOK_NUMBER : TOK_NAME, '\0', line.at + begin, i - begin, begin + 1);
}

static bool check_line(struct assembler *as, struct slice *line)
{
    const char *nul = memchr(line->at, '\0', line->len);

    if (line->len > ASM_MAX_LINE)
        return asm_fail(as, 1, "asm-line-length", "", "the line has %zu bytes; the limit is %d",
                        line->len, ASM_MAX_LINE);
    if (nul)
        return asm_fail(as, (uint32_t)(nul - line->at) + 1, "asm-nul", "a source is text",
                        "the line holds a NUL byte");
    if (line->len && line->at[line->len - 1] == '\r')
        line->len--;
    return true;
}

bool asm_lex(struct assembler *as)
{
    struct slice line = as->line_text;
    size_t pos = 0;

    as->tokens.len = 0;
    as->next = 0;
    if (!check_line(as, &line))
        return false;
    while (pos < line.len) {
        char c = line.at[pos];

        if (c == ';' || (c == '/' && pos + 1 < line.len && line.at[pos + 1] == '/'))
            break;
        if (c == ' ' || c == '\t')
            pos++;
        else if (!lex_token(as, line, &pos))
            return false;
    }
    return add(as, TOK_END, '\0', line.at + pos, 0, pos + 1);
}

bool asm_take(struct assembler *as, char punct)
{
    if (!asm_at(as, punct))
        return false;
    as->next++;
    return true;
}

struct slice asm_tok_text(const struct token *t)
{
    return t->kind == TOK_END ? (struct slice){"the end of the line", 19} : t->text;
}

bool asm_want(struct assembler *as, char punct, const char *where)
{
    struct slice text = asm_tok_text(asm_tok(as));

    if (asm_take(as, punct))
        return true;
    return asm_fail(as, asm_tok(as)->col, "asm-syntax", "", "expected `%c` %s, found `%.*s`", punct,
                    where, SLICE(text));
}

bool asm_want_name(struct assembler *as, const char *what, struct slice *name)
{
    const struct token *t = asm_tok(as);
    struct slice text = asm_tok_text(t);

    if (t->kind != TOK_NAME)
        return asm_fail(as, t->col, "asm-syntax", "", "expected %s, found `%.*s`", what,
                        SLICE(text));
    *name = t->text;
    as->next++;
    return true;
}

bool asm_want_end(struct assembler *as)
{
    const struct token *t = asm_tok(as);

    if (t->kind == TOK_END)
        return true;
    return asm_fail(as, t->col, "asm-syntax", "one instruction or directive a line",
                    "unexpected `%.*s` behind a complete statement", SLICE(t->text));
}

/* The byte that an escape stands for; -1 if there is none. */
static int escape(char c)
{
    static const char from[] = "nt0\\\"'r", to[] = "\n\t\0\\\"'\r";
    const char *at = c ? strchr(from, c) : NULL;

    return at ? (unsigned char)to[at - from] : -1;
}

bool asm_string(struct assembler *as, const struct token *t, struct slice *out)
{
    char *to = asm_keep(as, t->text.len + 1);
    size_t n = 0;

    if (!to)
        return false;
    for (size_t i = 0; i < t->text.len; i++) {
        int c = (unsigned char)t->text.at[i];

        if (c == '\\') {
            i++;
            c = escape(t->text.at[i]);
            if (c <= 0)
                return asm_fail(as, t->col + (uint32_t)i, "asm-escape",
                                "texts know \\n \\t \\r \\\\ \\\" and \\'", "unknown escape `\\%c`",
                                t->text.at[i]);
        }
        to[n++] = (char)c;
    }
    to[n] = '\0';
    *out = (struct slice){to, n};
    return true;
}

bool asm_char_value(struct assembler *as, const struct token *t, struct value *v)
{
    const char *s = t->text.at;
    int c = -1;

    if (t->text.len == 1)
        c = (unsigned char)s[0];
    else if (t->text.len == 2 && s[0] == '\\')
        c = escape(s[1]);
    if (c < 0)
        return asm_fail(as, t->col, "asm-character", "write one character, such as 'a' or '\\n'",
                        "`'%.*s'` is not one character", SLICE(t->text));
    *v = (struct value){.kind = VALUE_INT, .hex = true, .i = c};
    return true;
}
