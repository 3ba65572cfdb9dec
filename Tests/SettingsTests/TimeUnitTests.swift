import Settings
import Testing

@Suite struct TimeUnitTests {
    @Test("The unit is that of the middle, or a larger one where the largest would have more than seven digits")
    func unit() {
        #expect(TimeUnit(middle: 61, largest: 21_900) == .ns && TimeUnit(middle: 999, largest: 999) == .ns)
        #expect(TimeUnit(middle: 1000, largest: 1e9) == .us && TimeUnit(middle: 2e6, largest: 2e9) == .ms)
        #expect(TimeUnit(middle: 0, largest: 0) == .ns && TimeUnit(middle: 3e9, largest: 3e9) == .s)
        #expect(TimeUnit(middle: 300, largest: 9_999_999) == .ns && TimeUnit(middle: 300, largest: 1e7) == .us)
        #expect(TimeUnit(middle: 300, largest: 3.6e12) == .ms)
    }

    @Test("Figures have three digits, and at most three places")
    func written() {
        let texts = [0, 0.3, 0.5, 412, 999.6, 1000, 9_994, 9_996, 89_200, 99_960, 1_060_000, 21_900_499].map(
            TimeUnit.us.written)
        #expect(
            texts == [
                "0", "<0.001", "0.001", "0.412", "1.00", "1.00", "9.99", "10.0", "89.2", "100", "1,060", "21,900",
            ])
    }
}
