#ifndef ALERTQ_CLINUX_SHA256_H
#define ALERTQ_CLINUX_SHA256_H

// The processor's own SHA-256, if it has one: Intel's SHA extensions, which Swift can't express.
// See the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, SHA256RNDS2,
// SHA256MSG1 and SHA256MSG2.

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static inline int clinux_has_sha256(void) {
    unsigned int a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    const unsigned int has_shuffle = 1u << 9, has_blend = 1u << 19;
    if (!(c & has_shuffle) || !(c & has_blend)) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    return (b & (1u << 29)) != 0;
}

// Compresses blocks of 64 bytes into the eight words of the state, with the 64 round constants.
__attribute__((target("sha,sse4.1,ssse3")))
static inline void clinux_sha256(
    uint32_t *state, const uint8_t *block, size_t count, const uint32_t *constants
) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    // The instructions expect the words as ABEF and CDGH.
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; count--, block += 64) {
        const __m128i old_abef = abef, old_cdgh = cdgh;
        __m128i words[16];
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            if (i < 4) {
                words[i] = _mm_shuffle_epi8(
                    _mm_loadu_si128((const __m128i *)(block + 16 * i)), order);
            } else {
                __m128i sum = _mm_add_epi32(
                    _mm_sha256msg1_epu32(words[i - 4], words[i - 3]),
                    _mm_alignr_epi8(words[i - 1], words[i - 2], 4));
                words[i] = _mm_sha256msg2_epu32(sum, words[i - 1]);
            }
            __m128i input = _mm_add_epi32(
                words[i], _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
        }
        abef = _mm_add_epi32(abef, old_abef);
        cdgh = _mm_add_epi32(cdgh, old_cdgh);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#else
static inline int clinux_has_sha256(void) { return 0; }

static inline void clinux_sha256(
    uint32_t *state, const uint8_t *block, size_t count, const uint32_t *constants
) {
    (void)state; (void)block; (void)count; (void)constants;
}
#endif

#endif
