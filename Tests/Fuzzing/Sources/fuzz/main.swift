import Foundation
import Glibc

/// libFuzzer's own main loop (libclang_rt.fuzzer_no_main).
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

if CommandLine.arguments.dropFirst() == ["--list"] {
    for target in FuzzTarget.allCases { print(target.rawValue) }
    exit(0)
}
let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
guard let target = FuzzTarget(rawValue: name) else {
    print("FUZZ_TARGET \"\(name)\": expected one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    exit(64)
}
FuzzTarget.chosen = target
var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
let status = runDriver(&count, &arguments) { bytes, count in
    FuzzTarget.chosen.run(UnsafeBufferPointer(start: bytes, count: count))
    return 0
}
exit(status)
