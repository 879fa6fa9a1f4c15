/* A validator of JSON against JSON Schema (draft 2020-12), for the keywords that our schemas use. */
#ifndef HD_TESTS_RESULTS_JSON_SCHEMA_H
#define HD_TESTS_RESULTS_JSON_SCHEMA_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Whether value is valid; otherwise why has the JSON path and the keyword. A keyword that the validator does
 * not know makes the schema itself wrong ("unknown keyword").
 */
bool json_schema_valid(const cJSON *schema, const cJSON *value, char *why, size_t size);

#endif
