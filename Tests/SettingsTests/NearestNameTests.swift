import Settings
import Testing

@Suite struct NearestNameTests {
    @Test(
        "The nearest name is found over a missing, a wrong, an added letter and two swapped ones; nothing far away is",
        arguments: [
            ("smoek", "smoke"), ("smok", "smoke"), ("smohe", "smoke"), ("Smokee", "smoke"), ("saok", "soak"),
            ("steayd", "steady"), ("xyz", nil), ("smkeo", nil), ("", nil),
        ])
    func nearest(_ name: String, _ meant: String?) {
        #expect(NearestName.of(name, among: ["smoke", "steady", "soak"]) == meant)
    }

    @Test("A percentile is meant as it is: what there is instead is listed")
    func percentile() {
        #expect(NearestName.hint("p95", among: ["p90", "p99"]) == "; expected one of p90, p99")
        #expect(NearestName.hint("p9O", among: ["p90", "p99"]) == "; did you mean \"p90\"?")
    }
}
