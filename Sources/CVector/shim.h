// What a processor says of sixteen bytes at once, for which Swift has no words that stay one instruction each. Beside each the same
// in plain C, for other processors; tests hold both against each other.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <tmmintrin.h>
#endif

// Bit n: byte n of sixteen is a quote, a backslash, below 0x20 or above 0x7F.
static inline uint32_t pushload_special_plainly(const uint8_t *bytes) {
    uint32_t found = 0;
    for (int place = 0; place < 16; place++) {
        uint8_t byte = bytes[place];
        if (byte == '"' || byte == '\\' || byte < 0x20 || byte > 0x7F) found |= UINT32_C(1) << place;
    }
    return found;
}

static inline uint32_t pushload_special(const uint8_t *bytes) {
#if defined(__SSE2__)
    __m128i sixteen = _mm_loadu_si128((const __m128i *)bytes);
    // As signed numbers, those above 0x7F are below 0x20, too.
    __m128i found = _mm_cmplt_epi8(sixteen, _mm_set1_epi8(0x20));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(sixteen, _mm_set1_epi8('"')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(sixteen, _mm_set1_epi8('\\')));
    return (uint32_t)_mm_movemask_epi8(found);
#else
    return pushload_special_plainly(bytes);
#endif
}

// Bit n: byte n of sixteen is not that of the other sixteen.
static inline uint32_t pushload_differences_plainly(const uint8_t *bytes, const uint8_t *others) {
    uint32_t found = 0;
    for (int place = 0; place < 16; place++) {
        if (bytes[place] != others[place]) found |= UINT32_C(1) << place;
    }
    return found;
}

static inline uint32_t pushload_differences(const uint8_t *bytes, const uint8_t *others) {
#if defined(__SSE2__)
    __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)bytes), _mm_loadu_si128((const __m128i *)others));
    return (uint32_t)_mm_movemask_epi8(equal) ^ 0xFFFF;
#else
    return pushload_differences_plainly(bytes, others);
#endif
}

// Bit n: byte n of sixteen is no hexadecimal digit.
static inline uint32_t pushload_no_digits_plainly(const uint8_t *bytes) {
    uint32_t found = 0;
    for (int place = 0; place < 16; place++) {
        uint8_t byte = bytes[place], letter = byte | 0x20;
        if (!(byte >= '0' && byte <= '9') && !(letter >= 'a' && letter <= 'f')) found |= UINT32_C(1) << place;
    }
    return found;
}

static inline uint32_t pushload_no_digits(const uint8_t *bytes) {
#if defined(__SSE2__)
    __m128i sixteen = _mm_loadu_si128((const __m128i *)bytes);
    // What lies below a range is far above it as an unsigned number.
    __m128i digit = _mm_sub_epi8(sixteen, _mm_set1_epi8('0'));
    __m128i letter = _mm_sub_epi8(_mm_or_si128(sixteen, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    __m128i found = _mm_or_si128(
        _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit),
        _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter));
    return (uint32_t)_mm_movemask_epi8(found) ^ 0xFFFF;
#else
    return pushload_no_digits_plainly(bytes);
#endif
}

// Bit n: byte n of sixteen is below 0x20.
static inline uint32_t pushload_controls_plainly(const uint8_t *bytes) {
    uint32_t found = 0;
    for (int place = 0; place < 16; place++) {
        if (bytes[place] < 0x20) found |= UINT32_C(1) << place;
    }
    return found;
}

static inline uint32_t pushload_controls(const uint8_t *bytes) {
#if defined(__SSE2__)
    __m128i sixteen = _mm_loadu_si128((const __m128i *)bytes);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(sixteen, _mm_set1_epi8(0x1F)), sixteen));
#else
    return pushload_controls_plainly(bytes);
#endif
}

// Bit n: byte n of sixteen is no decimal digit.
static inline uint32_t pushload_no_decimals_plainly(const uint8_t *bytes) {
    uint32_t found = 0;
    for (int place = 0; place < 16; place++) {
        if (bytes[place] < '0' || bytes[place] > '9') found |= UINT32_C(1) << place;
    }
    return found;
}

static inline uint32_t pushload_no_decimals(const uint8_t *bytes) {
#if defined(__SSE2__)
    __m128i digit = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)bytes), _mm_set1_epi8('0'));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit)) ^ 0xFFFF;
#else
    return pushload_no_decimals_plainly(bytes);
#endif
}

// The 32 lower-case hexadecimal digits of two numbers, the first ahead.
static inline void pushload_write_hex_plainly(uint64_t first, uint64_t second, uint8_t *text) {
    for (int place = 0; place < 32; place++) {
        uint64_t word = place < 16 ? first : second;
        text[place] = (uint8_t)"0123456789abcdef"[word >> (60 - place % 16 * 4) & 15];
    }
}

static inline void pushload_write_hex(uint64_t first, uint64_t second, uint8_t *text) {
#if defined(__SSE2__)
    __m128i bytes = _mm_set_epi64x((int64_t)__builtin_bswap64(second), (int64_t)__builtin_bswap64(first));
    __m128i low = _mm_and_si128(bytes, _mm_set1_epi8(0x0F));
    __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(0x0F));
    __m128i halves[2] = {_mm_unpacklo_epi8(high, low), _mm_unpackhi_epi8(high, low)};
    for (int half = 0; half < 2; half++) {
        // From "0" on to "a" there are 39 more.
        __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(halves[half], _mm_set1_epi8(9)), _mm_set1_epi8(39));
        __m128i digits = _mm_add_epi8(_mm_add_epi8(halves[half], _mm_set1_epi8('0')), letter);
        _mm_storeu_si128((__m128i *)(text + half * 16), digits);
    }
#else
    pushload_write_hex_plainly(first, second, text);
#endif
}

#if defined(__SSE2__)
// Twelve bytes become sixteen digits: six bits a byte, then to each what its range is apart from it.
__attribute__((target("ssse3"))) static inline size_t pushload_base64_ssse3(const uint8_t *bytes, size_t count, uint8_t *text) {
    // Of three bytes abc in a word of 32 bits: b, a, c, b.
    const __m128i order = _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
    // From a digit's number to its character: 13 is A to Z, 0 is a to z, 1 to 10 are the decimal digits, 11 and 12 the last two.
    const __m128i apart = _mm_setr_epi8(
        'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63,
        'A', 0, 0);
    size_t read = 0;
    // Sixteen are loaded.
    for (; read + 16 <= count; read += 12, text += 16) {
        __m128i threes = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + read)), order);
        __m128i first = _mm_mulhi_epu16(_mm_and_si128(threes, _mm_set1_epi32(0x0FC0FC00)), _mm_set1_epi32(0x04000040));
        __m128i second = _mm_mullo_epi16(_mm_and_si128(threes, _mm_set1_epi32(0x003F03F0)), _mm_set1_epi32(0x01000010));
        __m128i numbers = _mm_or_si128(first, second);
        __m128i range = _mm_subs_epu8(numbers, _mm_set1_epi8(51));
        range = _mm_or_si128(range, _mm_and_si128(_mm_cmpgt_epi8(_mm_set1_epi8(26), numbers), _mm_set1_epi8(13)));
        _mm_storeu_si128((__m128i *)text, _mm_add_epi8(numbers, _mm_shuffle_epi8(apart, range)));
    }
    return read;
}
#endif

// Base64 digits (RFC 4648, section 4) of the first bytes, four for each three of them, as far as sixteen bytes at once reach; returns
// of how many bytes (a multiple of three). The same plainly is `Base64.encodePlainly` of room Payloads. The rest, of which there are fewer than sixteen where the processor has SSSE3, is the caller's.
static inline size_t pushload_base64(const uint8_t *bytes, size_t count, uint8_t *text) {
#if defined(__SSE2__)
    if (__builtin_cpu_supports("ssse3")) return pushload_base64_ssse3(bytes, count, text);
#endif
    return 0;
}
