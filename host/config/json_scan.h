/* The strict pass over JSON text ahead of cJSON. */
#ifndef HD_HOST_CONFIG_JSON_SCAN_H
#define HD_HOST_CONFIG_JSON_SCAN_H

#include "host/config/json_text.h"

/* Fills t->places; the bytes are in t already. */
enum hd_status json_scan(struct json_text *t, struct hd_error *err);
/* Line and column (in bytes, from 1) of an offset; offsets that grow are found in one pass over the text. */
void json_scan_line(struct json_text *t, size_t offset, size_t *line, size_t *column);

#endif
