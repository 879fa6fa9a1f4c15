/* Any bytes as a configuration: it is taken, and then every field is in its range, or there is an error with a place. */
#include "host/config/config.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hd_options o;
    struct hd_error err = {0};

    hd_options_default(&o);
    if (hd_config_load_text("fuzz.json", (const char *)data, size, &o, &err) == HD_OK) {
        if (param_check(&sim_params, &o.gpu, &err) || param_check(&rt_params, &o.host, &err))
            abort();
    } else if (!err.code[0] || !err.place[0]) {
        abort();
    }
    return 0;
}
