/*
 * Configurations: JSON files into the parameter tables of the machine and of the host. Nested objects are
 * dotted paths ("l1": {"bytes": 24576} is l1.bytes); a value is plain, or {"value": x, "source": "..."}.
 */
#ifndef HD_HOST_CONFIG_CONFIG_H
#define HD_HOST_CONFIG_CONFIG_H

#include "host/heddle.h"
#include "host/results/json_writer.h"

#define CONFIG_DEFAULT "p100" /* the preset of a run that names none */

/*
 * Sets the fields of *o that a preset or file names; the others stay. "extends" is read first. HD_BAD_INPUT
 * with place "file:line:column (/json/path)"; *o is then changed in part. The rules between parameters are not
 * checked (sim_config_check), for there may be more to set.
 */
enum hd_status hd_config_load(const char *name_or_file, struct hd_options *o, struct hd_error *err);
/* The same from text in memory; "extends" is looked for beside the file `name`. */
enum hd_status hd_config_load_text(const char *name, const char *bytes, size_t len,
                                   struct hd_options *o, struct hd_error *err);

/* Sets one parameter from "KEY=VALUE". HD_USAGE if there is no '='. */
enum hd_status hd_config_set(struct hd_options *o, const char *assignment, struct hd_error *err);

/* The row of a parameter in either table, or NULL. */
const struct param *hd_config_param(const char *path);
/* Row i of both tables, the machine's first; NULL past the last. *object is the struct in o that it describes (both may be NULL). */
const struct param *hd_config_row(size_t i, const struct hd_options *o, const void **object);
/* HD_BAD_INPUT: there is no such parameter, with the nearest name. */
enum hd_status hd_config_unknown(const char *path, const char *place, struct hd_error *err);

/* Every parameter, nested, as an object that hd_config_load reads. */
void hd_config_write(struct json_writer *w, const char *key, const struct hd_options *o);
/* The JSON Schema of a configuration file (draft 2020-12). */
void hd_config_schema(struct json_writer *w);

#endif
