/// The version of both programs, `pushload` and `mock-apns`: they are built, tested and released together.
public enum Version {
    public static let number = "0.1.0"
}
