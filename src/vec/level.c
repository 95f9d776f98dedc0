#include "vec/level.h"

#include <stdatomic.h>

/* One more than the level, so that 0 means "not looked yet". */
static atomic_int current;

static loci_vec_level best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return LOCI_VEC_SCALAR;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return LOCI_VEC_AVX2;
    return __builtin_cpu_supports("avx512vnni") ? LOCI_VEC_VNNI : LOCI_VEC_AVX512;
#else
    return LOCI_VEC_SCALAR;
#endif
}

loci_vec_level loci_vec_level_get(void)
{
    int known = atomic_load_explicit(&current, memory_order_relaxed);
    if (known == 0) {
        known = (int)best() + 1; /* two threads may both look, and both see the same */
        atomic_store_explicit(&current, known, memory_order_relaxed);
    }
    return (loci_vec_level)(known - 1);
}

bool loci_vec_level_force(loci_vec_level level)
{
    if (level > best()) return false;
    atomic_store_explicit(&current, (int)level + 1, memory_order_relaxed);
    return true;
}

const char *loci_vec_level_name(loci_vec_level level)
{
    static const char *const names[] = { "scalar", "avx2", "avx512", "vnni" };
    return level < LOCI_VEC_LEVELS ? names[level] : "unknown";
}
