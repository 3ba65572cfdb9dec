import Foundation
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct ReportRunTests {
    @Test("A run writes a report beside its result; report makes the same page of it, and Markdown")
    func reports() throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            ["run", "--output", output.path, "-n", "2000", "--threshold", "p99 < 1m", "--report", "page.html", "-q"])
        #expect(finished.status == 0, "\(finished.error)")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: output.path).first)
        let folder = output.path + "/" + name
        let page = try String(contentsOfFile: folder + "/page.html", encoding: .utf8)
        #expect(page.contains("2,000 pushes") && page.contains("held: p99 ") && page.contains(" &lt; 1 m"))

        let again = try Programs.run("pushload", ["report", folder])
        #expect(again.status == 0 && again.output.contains("report.html"), "\(again.error)")
        #expect(try String(contentsOfFile: folder + "/report.html", encoding: .utf8) == page)

        let terminal = try Programs.start(
            "pushload", ["report", folder, "--format", "terminal"], environment: ["COLUMNS": "80"]
        ).wait()
        #expect(terminal.status == 0 && terminal.output.contains("latency, due to answered"), "\(terminal)")
        #expect(terminal.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(terminal.output)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/report.txt"))

        let (second, both) = (output.path + "/second.json", output.path + "/both.md")
        let result = try ResultFile.read(folder + "/result.json")
        try String(contentsOfFile: folder + "/result.json", encoding: .utf8)
            .replacingOccurrences(of: result.run.id, with: String(result.run.id.reversed()))
            .write(toFile: second, atomically: true, encoding: .utf8)
        let markdown = try Programs.run("pushload", ["report", folder, second, "-o", both, "--format", "markdown"])
        #expect(markdown.status == 0, "\(markdown.error)")
        let byName = try Programs.run("pushload", ["report", folder, second, "-o", "\(output.path)/by-name.md"])
        #expect(byName.status == 0, "\(byName.error)")
        #expect(
            try String(contentsOfFile: "\(output.path)/by-name.md", encoding: .utf8)
                == String(contentsOfFile: both, encoding: .utf8))
        let text = output.path + "/with-run.txt"
        let run = try Programs.run("pushload", ["run", "--output", output.path, "-n", "200", "--report", text, "-q"])
        #expect(run.status == 0, "\(run.error)")
        #expect(try String(contentsOfFile: text, encoding: .utf8).contains("latency, due to answered"))
        let unknown = try Programs.run("pushload", ["report", folder, "-o", "\(output.path)/page.pdf"])
        #expect(
            unknown.status != 0 && unknown.error.contains("expected a name that ends in .html or .md or .txt"),
            "\(unknown)")
        #expect(try String(contentsOfFile: both, encoding: .utf8).contains("| planned | 2,000 pushes | 2,000 pushes |"))
    }

    @Test("What is no result is refused in one line, and nothing is written")
    func refused() throws {
        let output = try OutputFolder.made()
        let file = output.path + "/other.json"
        let page = output.path + "/page.html"
        for text in ["{\"schema\": \"pushload.result/2\"}", "{}", "{\"schema\":", "<html>"] {
            try Data(text.utf8).write(to: URL(filePath: file))
            let finished = try Programs.run("pushload", ["report", file, "-o", page])
            #expect(finished.status == 64, "\(text)")
            #expect(finished.error.split(separator: "\n").count == 1 && finished.error.contains("other.json"))
        }
        // Where several are asked for, one that is wrong is enough, and each says which.
        for command in ["report", "merge", "compare", "history"] {
            let finished = try Programs.run(
                "pushload", [command, file, file] + (command == "merge" ? ["-o", page] : []))
            #expect(finished.status == 64, "\(command)")
            #expect(
                finished.error.split(separator: "\n").count == 1 && finished.error.contains("other.json"), "\(finished)"
            )
        }
        #expect(try Programs.run("pushload", ["report", output.path]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: page))
    }
}
