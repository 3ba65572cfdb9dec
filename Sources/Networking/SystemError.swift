import Glibc

/// The text of an `errno` value, for error messages.
func systemErrorText(_ code: Int32) -> String {
    String(cString: strerror(code))
}

/// Runs a system call again while it is interrupted by a signal; -1 with `errno` set when it failed.
@inline(__always)
func retryingInterrupts<Value: SignedInteger>(_ call: () -> Value) -> Value {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
