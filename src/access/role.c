#include "access/role.h"

static const char *const names[] = {
    [LOCI_ROLE_READ] = "read",
    [LOCI_ROLE_WRITE] = "write",
    [LOCI_ROLE_ADMIN] = "admin",
};

const char *loci_role_name(loci_role role)
{
    return names[role];
}

loci_rc loci_role_parse(loci_str name, loci_role *ret_role, loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(names); i++) {
        if (!loci_str_eq(name, loci_str_from(names[i]))) continue;
        *ret_role = (loci_role)i;
        return LOCI_OK;
    }
    return loci_fail(err, LOCI_EINVAL, "'%.*s' is no role; there are read, write and admin",
                     LOCI_ARG(name));
}
