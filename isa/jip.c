#include "isa/jip.h"

#include "isa/format.h"

bool isa_derive_jips(struct isa_insn *insns, uint32_t first, uint32_t n, const bool *written)
{
    uint32_t next = ISA_NO_PC; /* join behind the instruction */

    for (uint32_t i = n; i-- > 0;) {
        unsigned format = isa_ops[insns[i].op].format;

        if ((isa_formats[format].extra & ISA_X_JIP) && !written[i])
            insns[i].jip = format == ISA_GOTO_BACK && next != first + i + 1 ? ISA_NO_PC : next;
        if (format == ISA_JOIN)
            next = first + i;
    }
    return true;
}
