import Foundation
import Signing
import Testing

/// A finished program.
struct Finished {
    let status: Int32
    let output: String
    let error: String

    /// What it printed, as a document of this type.
    func read<Document: Decodable>(_ type: Document.Type) throws -> Document {
        try JSONDecoder().decode(type, from: Data(output.utf8))
    }
}

/// The executables of this build, run as a user runs them.
enum Programs {
    /// `TESTED_PROGRAMS`, where it is set; else the folder the test bundle lies in, which holds the executables too.
    static let folder: URL = {
        if let folder = ProcessInfo.processInfo.environment["TESTED_PROGRAMS"] { return URL(fileURLWithPath: folder) }
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<6 {
            if FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent("pushload").path) { break }
            folder.deleteLastPathComponent()
        }
        return folder
    }()

    /// Built with AddressSanitizer, which multiplies memory.
    static let isSanitized = folder.path.contains("/asan/")

    /// What holds for one engine holds for all.
    static let engines = ["wire", "nghttp2"]

    static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : folder.appendingPathComponent(name).path
    }

    /// Starts a program, with its output going to files that are read when it has ended.
    static func start(
        _ name: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Running {
        try Running(path(name), arguments, environment: environment)
    }

    static func run(_ name: String, _ arguments: [String]) throws -> Finished {
        try start(name, arguments).wait()
    }
}

final class Running {
    let process = Process()
    private let folder: URL
    private let output: URL
    private let error: URL
    private let input = Pipe()

    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("e2e-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        output = folder.appendingPathComponent("out")
        error = folder.appendingPathComponent("err")
        for file in [output, error] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        // Sentences stand on one line.
        process.environment = ProcessInfo.processInfo.environment.merging(["COLUMNS": "400"]) { $1 }
            .merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: error)
        process.standardInput = input
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var errorText: String { (try? String(contentsOf: error, encoding: .utf8)) ?? "" }

    /// A program that reads until the end of its input gets there.
    func closeInput() { try? input.fileHandleForWriting.close() }

    /// Waits until the output holds `part`; fails after two minutes.
    func waitFor(_ part: String) throws {
        try wait {
            text.contains(part)
        } or: {
            part
        }
    }

    /// Waits until standard error holds `part`; fails after two minutes.
    func waitForError(_ part: String) throws {
        try wait {
            errorText.contains(part)
        } or: {
            part
        }
    }

    private func wait(_ isThere: () -> Bool, or part: () -> String) throws {
        for _ in 0..<12_000 {
            if isThere() { return }
            usleep(10_000)
        }
        let part = part()
        throw Failure(description: "\"\(part)\" never came: \(text) \(errorText)")
    }

    func wait() throws -> Finished {
        // The run loop may not be turning on this thread, so that the end is looked for rather than told.
        for _ in 0..<120_000 where process.isRunning { usleep(5_000) }
        guard !process.isRunning else {
            throw Failure(description: "still running after ten minutes: \(text) \(errorText)")
        }
        return Finished(status: process.terminationStatus, output: text, error: errorText)
    }

    struct Failure: Error, CustomStringConvertible { let description: String }
}

/// A mock of its own with a credentials folder.
final class Mock {
    let folder: String
    let running: Running
    let port: String
    var url: String { "\(scheme)://127.0.0.1:\(port)" }
    private let scheme: String

    init(_ arguments: [String] = [], plaintext: Bool = false) throws {
        scheme = plaintext ? "http" : "https"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("credentials-\(UUID())").path
        running = try Programs.start(
            "mock-apns", ["--port", "0", "--credentials", folder] + (plaintext ? ["--plaintext"] : []) + arguments)
        try running.waitFor("listening on ")
        let line = running.text.split(separator: "\n")[0]
        port = String(line.split(separator: ":").last!)
    }

    /// The port of another endpoint the mock named at its start, such as `admin`.
    func port(of name: String) throws -> String {
        let line = running.text.split(separator: "\n").first { $0.hasPrefix(name + " on ") }
        return String(try #require(line, "no endpoint \(name): \(running.text)").split(separator: ":").last!)
    }

    /// The provider key of the credentials folder.
    func identity() throws -> ProviderIdentity { try Credentials.load(directory: folder).identity }

    /// Ends the mock; returns what it printed.
    func stop() throws -> Finished {
        kill(running.process.processIdentifier, SIGTERM)
        return try running.wait()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}

/// A folder for results that is removed at the end.
final class OutputFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID())").path

    /// With a self-signed client certificate, `c.pem`, of com.example.app, and its key, `k.pem`.
    static func withClientCertificate() throws -> OutputFolder {
        let folder = try made()
        let openssl = try Programs.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/UID=com.example.app/CN=x", "-keyout", folder.path + "/k.pem", "-out", folder.path + "/c.pem",
            ])
        #expect(openssl.status == 0, "\(openssl.error)")
        return folder
    }

    /// Most commands make the folder themselves.
    static func made() throws -> OutputFolder {
        let folder = OutputFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        return folder
    }

    /// Makes a program of these lines of sh in the folder, which is there; returns its path.
    func script(_ name: String, _ lines: String) throws -> String {
        let script = path + "/" + name
        // Written by another process: a program that is started here meanwhile would hold the file open, and the kernel runs no
        // file that is open for writing (ETXTBSY).
        let writer = try Programs.run(
            "/bin/sh", ["-c", #"printf '%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", "#!/bin/sh\n\(lines)", script])
        try #require(writer.status == 0, "\(writer)")
        return script
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
