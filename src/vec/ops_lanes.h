/* vec/ops_lanes.h -- the text of vec/ops.c's functions, included once per level.
 *
 * The includer defines LEVEL(name), which gives a name of its own to each level's function, TARGET,
 * the attribute that lets the compiler use that level's instructions, and MAX and MIN of two
 * vectors, which give the second one when a lane holds no number. Vectors are sixteen
 * lanes wide everywhere; the compiler cuts them to what the level has.
 */

#define HELPER TARGET static inline __attribute__((always_inline))

HELPER lanes LEVEL(load)(const float *p)
{
    return *(const lanes_anywhere *)(const void *)p;
}

HELPER void LEVEL(store)(float *p, lanes v)
{
    *(lanes_anywhere *)(void *)p = v;
}

HELPER lanes LEVEL(fill)(float value)
{
    return value - (lanes){ 0 };
}

/* Halve until one is left: always the same order. */
HELPER float LEVEL(sum)(lanes v)
{
    float s[LOCI_LANES];

    LEVEL(store)(s, v);
    for (size_t width = LOCI_LANES / 2; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) s[i] += s[i + width];
    return s[0];
}

/* exp(x) for x <= 0, and 0 below -86: 2^n * e^f with n whole and |f| <= ln 2 / 2. Adding 1.5 * 2^23
 * rounds to a whole number and leaves it in the low bits, from where it is added to the exponent.
 * ln 2 is taken off in two parts, the first of which has few bits, so that f keeps all of its own.
 * The Taylor series up to f^6 leaves out less than 1.3e-7. */
HELPER lanes LEVEL(exp)(lanes x)
{
    const float round = 12582912.0F;
    lanes shifted = x * 1.44269504F + round; /* of no use below -86, where nothing of it is kept */
    lanes n = shifted - round;
    lanes f = (x - n * 0.693359375F) - n * -2.12194440e-4F;
    lanes p = f * (1.0F / 720) + 1.0F / 120;

    p = p * f + 1.0F / 24;
    p = p * f + 1.0F / 6;
    p = p * f + 0.5F;
    p = p * f + 1.0F;
    p = p * f + 1.0F;
    lanes_bits power = ((lanes_bits)shifted << 23) + (lanes_bits)p;
    return (lanes)(power & (lanes_bits)(x > LEVEL(fill)(-86.0F)));
}

TARGET static void LEVEL(layer_norm)(float *x, const float *weight, const float *bias, size_t n,
                                     float eps)
{
    lanes total = { 0 }, squares = { 0 };

    for (size_t i = 0; i < n; i += LOCI_LANES) total += LEVEL(load)(x + i);
    lanes mean = LEVEL(fill)(LEVEL(sum)(total) / (float)n);
    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes d = LEVEL(load)(x + i) - mean;
        squares += d * d;
    }
    lanes factor = LEVEL(fill)(1.0F / sqrtf(LEVEL(sum)(squares) / (float)n + eps));
    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes d = (LEVEL(load)(x + i) - mean) * factor;
        LEVEL(store)(x + i, d * LEVEL(load)(weight + i) + LEVEL(load)(bias + i));
    }
}

TARGET static float LEVEL(largest)(const float *x, size_t n)
{
    float s[LOCI_LANES], best;
    lanes top = LEVEL(load)(x);

    for (size_t i = LOCI_LANES; i < n; i += LOCI_LANES) top = MAX(LEVEL(load)(x + i), top);
    LEVEL(store)(s, top);
    best = s[0];
    for (size_t i = 1; i < LOCI_LANES; i++) best = s[i] > best ? s[i] : best;
    return best;
}

TARGET static float LEVEL(softmax_raw)(float *x, size_t n, float factor)
{
    if (n == 0) return 0;
    lanes top = LEVEL(fill)(LEVEL(largest)(x, n)), total = { 0 };

    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes e = LEVEL(exp)((LEVEL(load)(x + i) - top) * factor);
        LEVEL(store)(x + i, e);
        total += e;
    }
    return LEVEL(sum)(total);
}

/* erf after Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: for z >= 0,
 * erf z = 1 - (a1 t + ... + a5 t^5) exp(-z^2), t = 1 / (1 + p z), to 1.5e-7. */
TARGET static void LEVEL(gelu)(float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes v = LEVEL(load)(x + i);
        lanes_int sign = (lanes_int)v & INT32_MIN;
        lanes z = (lanes)((lanes_int)v & INT32_MAX) * 0.707106781F;
        lanes t = 1.0F / (z * 0.3275911F + 1.0F);
        lanes p = t * 1.061405429F - 1.453152027F;

        p = p * t + 1.421413741F;
        p = p * t - 0.284496736F;
        p = p * t + 0.254829592F;
        lanes erf = 1.0F - p * t * LEVEL(exp)(z * -z);
        erf = (lanes)((lanes_int)erf | sign);
        LEVEL(store)(x + i, v * 0.5F * (erf + 1.0F));
    }
}

TARGET static void LEVEL(scale)(float *x, size_t n, float factor)
{
    for (size_t i = 0; i < n; i += LOCI_LANES) LEVEL(store)(x + i, LEVEL(load)(x + i) * factor);
}

TARGET static void LEVEL(add)(float *sum, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LOCI_LANES)
        LEVEL(store)(sum + i, LEVEL(load)(sum + i) + LEVEL(load)(x + i));
}

/* The smallest and the largest of x and 0. */
TARGET static void LEVEL(range)(const float *x, size_t n, float *ret_low, float *ret_high)
{
    float lows[LOCI_LANES], highs[LOCI_LANES], low = 0, high = 0;
    lanes bottom = { 0 }, top = { 0 };

    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes v = LEVEL(load)(x + i);
        bottom = MIN(v, bottom);
        top = MAX(v, top);
    }
    LEVEL(store)(lows, bottom);
    LEVEL(store)(highs, top);
    for (size_t i = 0; i < LOCI_LANES; i++) {
        low = lows[i] < low ? lows[i] : low;
        high = highs[i] > high ? highs[i] : high;
    }
    *ret_low = low;
    *ret_high = high;
}

TARGET static void LEVEL(quantise_row)(const float *x, size_t n, uint8_t *ret_u, float *ret_scale,
                                       int32_t *ret_zero)
{
    const float round = 12582912.0F;
    float low, high;

    LEVEL(range)(x, n, &low, &high);
    float scale = (high - low) / 255.0F;
    float inverse = scale > FLT_MIN && scale < FLT_MAX ? 1.0F / scale : 0.0F;
    float zero = inverse > 0 ? (-low * inverse + round) - round : 0;

    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes shifted = LEVEL(load)(x + i) * inverse + zero;
        shifted = MIN(MAX(shifted, LEVEL(fill)(0)), LEVEL(fill)(255)) + round;
        lanes_byte bytes = __builtin_convertvector((lanes_int)shifted & 255, lanes_byte);
        memcpy(ret_u + i, &bytes, sizeof bytes);
    }
    *ret_scale = inverse > 0 ? scale : 0;
    *ret_zero = (int32_t)zero;
}

TARGET static void LEVEL(dequantise_row)(const int8_t *q, size_t n, const float *scale, float *ret)
{
    for (size_t i = 0; i < n; i += LOCI_LANES) {
        lanes_signed bytes;
        memcpy(&bytes, q + i, sizeof bytes);
        LEVEL(store)(ret + i, __builtin_convertvector(bytes, lanes) * scale[i / LOCI_GROUP]);
    }
}

static const struct ops LEVEL(ops) = {
    LEVEL(layer_norm), LEVEL(softmax_raw),  LEVEL(gelu),           LEVEL(scale),
    LEVEL(add),        LEVEL(quantise_row), LEVEL(dequantise_row),
};

#undef HELPER
#undef LEVEL
#undef MAX
#undef MIN
#undef TARGET
