import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The files of the article "Recipes", as they stand there, run by the programs that they are for.
///
/// `/usr/local` is the test's own directory. It has the built command, and a program for each of
/// `prune` and `deploy` that notes how it was called.
@Suite("Recipes", .inParallel)
struct RecipeTests {
    private static let article = CodeBlock.articles + "Recipes.md"
    private static let languages = ["conf", "crontab", "ini", "makefile", "shell", "yaml"]

    let queue: CommandLineQueue

    init() throws {
        queue = try CommandLineQueue()
        let files = FileManager.default
        for folder in ["bin", "sbin", "libexec"] {
            try files.createDirectory(
                atPath: "\(queue.directory)/\(folder)", withIntermediateDirectories: true)
        }
        try files.createSymbolicLink(
            atPath: queue.directory + "/bin/alertq", withDestinationPath: CommandLineQueue.program)
        for program in ["prune", "deploy"] { try note("bin/" + program) }
    }

    /// Writes a program that notes its name and arguments in the file `called`.
    private func note(_ path: String) throws {
        _ = try queue.script(path, "echo \"${0##*/} $*\" >>\"\(queue.directory)/called\"")
    }

    private var called: [String] { queue.lines("called") }

    /// The file of the article with this path, which its first or second line names.
    private func recipe(_ path: String) throws -> String {
        let blocks = try Self.languages.flatMap { try CodeBlock.all($0, in: Self.article) }
        let found = blocks.filter { block in
            block.text.split(separator: "\n").prefix(2).contains {
                $0.trimmingPrefix(/(?:#|\/\/)\s/) == path && $0 != path
            }
        }
        try #require(found.count == 1, "\(path) is there \(found.count) times")
        return found[0].text.replacing("/usr/local/", with: queue.directory + "/")
    }

    /// Writes a file of the article below the test's directory; a script is executable.
    private func install(_ path: String, as name: String? = nil) throws -> String {
        let name = name ?? String(path.split(separator: "/").last ?? "")
        let target = path.hasPrefix("/usr/local/") ? String(path.dropFirst(11)) : name
        let text = try recipe(path)
        guard text.hasPrefix("#!/bin/sh\n") else {
            let file = queue.directory + "/" + target
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            return file
        }
        return try queue.script(target, String(text.dropFirst(10)))
    }

    private func start(
        _ words: [String], environment: [String: String] = [:]
    ) throws -> Child {
        let own = [
            "ALERTQ_DATABASE": queue.path, "HOME": queue.directory,
            "PATH": "\(queue.directory)/bin:\(CodeBlock.path)",
        ]
        return try Child(
            words[0], Array(words.dropFirst()), environment: own.merging(environment) { $1 })
    }

    /// Answers the next question with a button; returns the question.
    @discardableResult
    private func answer(
        _ button: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: any Sendable] {
        try #require(
            try await eventually { try await !queue.objects("list").isEmpty },
            "nothing was asked", sourceLocation: sourceLocation)
        let question = try await queue.objects("list")[0]
        let id = try #require(question["id"] as? Int)
        let answered = try await queue.run("answer", "\(id)", button)
        #expect(answered.code == 0, "\(answered)", sourceLocation: sourceLocation)
        return question
    }

    private static func has(_ programs: String...) -> Bool {
        ProcessInfo.processInfo.environment["ALERTQ_TRY_ALL"] != nil
            || programs.allSatisfy { program in
                CodeBlock.path.split(separator: ":").contains {
                    access("\($0)/\(program)", X_OK) == 0
                }
            }
    }

    // MARK: - cron and systemd

    @Test("The cron job prunes only after a yes, and writes nothing that cron would mail")
    func cron() async throws {
        let lines = try recipe("/etc/cron.d/prune").split(separator: "\n").dropFirst()
        let (path, job) = (try #require(lines.first), try #require(lines.last))
        let fields = job.split(separator: " ", maxSplits: 6)
        try #require(lines.count == 2 && fields.count == 7 && fields[5] == "root")
        // A bare % is the end of the line, see crontab(5).
        #expect(!fields[6].contains(/[^\\]%/))
        let command = String(fields[6].replacing("\\%", with: "%"))
        let environment = [
            "-i", "HOME=\(queue.directory)", "LOGNAME=root", "SHELL=/bin/sh", String(path),
            "ALERTQ_DATABASE=\(queue.path)", "/bin/sh", "-c", command,
        ]
        let job1 = try Child("env", environment)
        #expect(try await answer("no")["title"] as? String == "Prune old snapshots?")
        let no = await job1.finish()
        #expect(no.code == 10 && no.output + no.errors == "" && called == [], "\(no)")
        // On another day the key is another one.
        var other = environment
        other[other.count - 1] = command.replacing("date +", with: "date -d tomorrow +")
        let job2 = try Child("env", other)
        try await answer("yes")
        let yes = await job2.finish()
        #expect(yes.code == 0 && yes.output + yes.errors == "", "\(yes)")
        #expect(called == ["prune --older-than 30d"])
        // Run again on the same day, it knows the answer.
        #expect(await (try Child("env", environment)).finish().code == 10)
    }

    @Test("The nightly script logs each end, fails only if it should, and asks once a night")
    func nightly() async throws {
        let script = try install("/usr/local/sbin/nightly-prune")
        let text = try String(contentsOfFile: script, encoding: .utf8)
            .replacing("/var/log/", with: queue.directory + "/")
        func night(_ day: String) throws -> Child {
            let other = text.replacing("date +%F", with: "date -d '\(day)' +%F")
            return try start(["sh", "-c", other])
        }
        for (day, button, code, last) in [
            ("today", "no", 0, "no"), ("1 day", "yes", 0, "prune ended with 0"),
            ("2 days", nil, 13, "no answer: alertq ended with 13"),
        ] as [(String, String?, Int32, String)] {
            let job = try night(day)
            if let button {
                try await answer(button)
            } else {
                #expect(try await eventually { try await !queue.objects("list").isEmpty })
                #expect(try await queue.run("withdraw", "3").code == 0)
            }
            let end = await job.finish()
            #expect(end.code == code && end.output + end.errors == "", "\(day): \(end)")
            let log = try String(
                contentsOfFile: queue.directory + "/nightly-prune.log", encoding: .utf8)
            #expect(log.hasSuffix(" \(last)\n"), "\(day): \(log)")
            // Started again, it knows how that ended.
            #expect(await (try night(day)).exit() == code)
        }
        #expect(called == ["prune --older-than 30d", "prune --older-than 30d"])
        #expect(try await queue.objects("history").count == 3)
    }

    @Test("The question with figures is asked once a night, and takes the last one back")
    func usage() async throws {
        let script = try install("/usr/local/sbin/ask-usage")
        let text = try String(contentsOfFile: script, encoding: .utf8)
        func night(_ days: Int) async throws -> Finished {
            let other = text.replacing("date -d yesterday", with: "date -d '\(days - 1) days'")
                .replacing("date +", with: "date -d '\(days) days' +")
            return await (try start(["sh", "-c", other])).finish()
        }
        for day in [0, 0, 1, 2] {
            let end = try await night(day)
            #expect(end.code == 0 && end.output + end.errors == "", "\(end)")
            #expect(try await queue.objects("list").map { $0["id"] as? Int } == [day + 1])
        }
        let first = try await queue.objects("show", "1").first
        #expect(first?["outcome"] as? String == "withdrawn")
        #expect((first?["message"] as? String)?.contains("Filesystem") == true)
        // An answer is kept.
        try await answer("yes")
        #expect(try await night(3).code == 0)
        #expect(try await queue.objects("show", "3").first?["button"] as? String == "yes")
    }

    @Test("The script that asks for a value uses it, and ends with the code of a no")
    func days() async throws {
        let script = try install("/usr/local/sbin/ask-days")
        let job = try start([script])
        #expect(try await eventually { try await !queue.objects("list").isEmpty })
        let answered = try await queue.run("answer", "1", "yes", "--set", "days=14")
        #expect(answered.code == 0, "\(answered)")
        #expect(await job.finish().code == 0 && called == ["prune --older-than 14d"])
        let text = try String(contentsOfFile: script, encoding: .utf8)
        let other = text.replacing("date +", with: "date -d tomorrow +")
        let refused = try start(["sh", "-c", other])
        try await answer("no")
        #expect(await refused.finish().code == 10 && called.count == 1)
    }

    @Test("The service sends each question once, also after a restart", .enabled(if: has("jq")))
    func phone() async throws {
        _ = try install("/usr/local/libexec/send-question")
        _ = try queue.script(
            "bin/send-to-phone", "cat >>\"\(queue.directory)/sent\"")
        let unit = "/etc/systemd/system/alertq-phone.service"
        let command = try command("ExecStart", of: unit)
            .replacing("/var/lib/alertq-phone/", with: queue.directory + "/")
        for (id, title) in [(1, "One?"), (2, "Two?")] {
            let asked = try await queue.run(
                "ask", title, "-b", "yes=Yes", "--cancel", "no=No", "--detach")
            #expect(asked.code == 0)
            let service = try start(["sh", "-c", "exec " + command])
            let last = [title, "alertq answer \(id) yes|no"]
            #expect(await eventually { queue.lines("sent").suffix(2) == last })
            #expect(await eventually { queue.lines("cursor").first?.hasPrefix("\(id):") == true })
            service.kill(SIGTERM)
            #expect(await service.exit() == 128 + SIGTERM)
        }
        #expect(queue.lines("sent").count == 4, "\(queue.lines("sent"))")
    }

    @Test("The check fails with one line while a question waits and nobody is there")
    func check() async throws {
        let script = try install("/usr/local/libexec/check-alertq")
        #expect(try await queue.run("ask", "Go?", "--detach").code == 0)
        let well = await (try start([script])).finish()
        #expect(well.code == 0 && well.output == "alertq: all is well\n", "\(well)")
        let text = try String(contentsOfFile: script, encoding: .utf8)
        let soon = text.replacing("--waiting 1h", with: "--waiting 1ms")
        #expect(soon != text)
        let late = await (try start(["sh", "-c", soon])).finish()
        #expect(late.code == 2 && late.errors == "", "\(late)")
        #expect(
            late.output.wholeMatch(of: /problem  presenter: .* alert 1 has waited for .*\n/) != nil,
            "\(late)")
        let wrong = text.replacing("--waiting 1h", with: "--wating 1h")
        let broken = await (try start(["sh", "-c", wrong])).finish()
        #expect(broken.code == 2 && broken.output.hasPrefix("alertq: doctor: "), "\(broken)")
    }

    @Test("The metrics are written whole, and have all that the article names")
    func metrics() async throws {
        let folder = "/var/lib/prometheus/node-exporter"
        try FileManager.default.createDirectory(
            atPath: queue.directory + "/metrics", withIntermediateDirectories: false)
        let lines = try recipe("/etc/cron.d/alertq-metrics").split(separator: "\n").dropFirst()
        let (path, job) = (try #require(lines.first), try #require(lines.last))
        let fields = job.split(separator: " ", maxSplits: 6)
        try #require(lines.count == 2 && fields.count == 7 && fields[5] == "root")
        let command = fields[6].replacing(folder, with: queue.directory + "/metrics")
        #expect(!command.contains("%") && command != fields[6])
        #expect(try await queue.run("ask", "Go?", "--detach").code == 0)
        let written = try await Child.run(
            "env", "-i", "HOME=\(queue.directory)", "ALERTQ_DATABASE=\(queue.path)", String(path),
            "/bin/sh", "-c", String(command))
        #expect(written.code == 0 && written.output + written.errors == "", "\(written)")
        let files = try FileManager.default.contentsOfDirectory(
            atPath: queue.directory + "/metrics")
        #expect(files == ["alertq.prom"])
        let metrics = queue.lines("metrics/alertq.prom")
        let article = try CodeBlock.text(of: Self.article)
        let names = Set(article.matches(of: /`(alertq_[a-z_]+(?:\{[^}]*\})?) >/).map(\.1))
            .union(article.matches(of: #/ and (alertq_[a-z_]+) /#).map(\.1))
        #expect(names.count == 3)
        for name in names {
            #expect(metrics.contains { $0.hasPrefix(name + " ") }, "\(name)")
        }
    }

    /// The command of a setting of a unit.
    private func command(_ setting: String, of unit: String) throws -> String {
        let line = try #require(
            try recipe(unit).split(separator: "\n").first { $0.hasPrefix(setting + "=") })
        // Its quotes are those of the shell, and it has no other specifiers.
        let command = line.dropFirst(setting.count + 1).replacing("%H", with: "host")
        #expect(!command.contains("%") && !command.contains("$"))
        return String(command)
    }

    @Test(
        "A unit whose condition asks goes on after a yes, and ends quietly otherwise",
        arguments: [("prune", "Prune old snapshots on"), ("ask-reboot", "Reboot")])
    func condition(unit: String, title: String) async throws {
        let condition = try command("ExecCondition", of: "/etc/systemd/system/\(unit).service")
        for (button, code) in [("yes", 0), ("no", 10)] as [(String, Int32)] {
            let child = try start(["sh", "-c", "exec " + condition])
            #expect((try await answer(button)["title"] as? String)?.hasPrefix(title) == true)
            #expect(await child.exit() == code)
        }
        // As `systemctl stop` does.
        let stopped = try start(["sh", "-c", "exec " + condition])
        #expect(try await eventually { try await !queue.objects("list").isEmpty })
        stopped.kill(SIGTERM)
        #expect(await stopped.exit() == 128 + SIGTERM)
        let last = try await queue.objects("history", "--limit", "1").first
        #expect(last?["outcome"] as? String == "withdrawn")
    }

    @Test("A job asks and ends; the service acts on each answer once, and only after a yes")
    func later() async throws {
        let job = try install("/etc/cron.daily/prune", as: "job")
        _ = try install("/usr/local/libexec/prune-answer")
        for (button, calls) in [("yes", 1), ("no", 1)] {
            let asked = await (try start([job])).finish()
            #expect(asked.code == 0 && asked.output + asked.errors == "", "\(asked)")
            let again = await (try start([job])).finish()
            #expect(again.code == 0)
            try #require(try await queue.objects("list").count == 1)
            try await answer(button)
            let unit = "/etc/systemd/system/prune-answers.service"
            let service = try start(["sh", "-c", "exec " + (try command("ExecStart", of: unit))])
            #expect(
                try await eventually {
                    try await queue.objects("history", "--uncollected").isEmpty
                })
            #expect(called == Array(repeating: "prune --older-than 30d", count: calls))
            service.kill(SIGTERM)
            #expect(await service.exit() == 128 + SIGTERM)
            // The next day.
            let text = try String(contentsOfFile: job, encoding: .utf8)
            _ = try queue.script("job", text.replacing("date +", with: "date -d tomorrow +"))
        }
    }

    @Test("systemd finds nothing wrong with the units", .enabled(if: has("systemd-analyze")))
    func units() async throws {
        _ = try install("/usr/local/libexec/prune-answer")
        _ = try install("/usr/local/libexec/send-question")
        let names = [
            "prune.service", "prune-answers.service", "ask-reboot.path", "alertq-phone.service",
        ]
        _ = try install("/etc/systemd/system/ask-reboot.service")
        let paths = try names.map { try install("/etc/systemd/system/" + $0) }
        let verified = await (try start(["systemd-analyze", "--man=no", "verify"] + paths))
            .finish()
        #expect(verified.code == 0 && verified.errors == "", "\(verified)")
        // The control: it reads them.
        let text = try String(contentsOfFile: paths[0], encoding: .utf8)
        try text.replacing("ExecCondition", with: "ExecKondition")
            .write(toFile: paths[0], atomically: true, encoding: .utf8)
        let refused = await (try start(["systemd-analyze", "--man=no", "verify", paths[0]]))
            .finish()
        #expect(refused.errors.contains("ExecKondition"), "\(refused)")
    }

    // MARK: - apt, backups and deployments

    @Test(
        "apt installs after a yes, and otherwise stops before it starts dpkg",
        .enabled(if: has("apt-get", "dpkg-deb")))
    func apt() async throws {
        let home = queue.directory
        for folder in ["try/DEBIAN", "lists/partial", "archives/partial", "etc/apt.conf.d"] {
            try FileManager.default.createDirectory(
                atPath: "\(home)/\(folder)", withIntermediateDirectories: true)
        }
        let control = """
            Package: try
            Version: 1
            Architecture: all
            Maintainer: Ana <ana@example.org>
            Description: try

            """
        let settings = """
            Dir::Etc "\(home)/etc"; Dir::State "\(home)"; Dir::Cache "\(home)"; Dir::Log "\(home)";
            Dir::State::status "/dev/null"; Dir::Bin::dpkg "\(home)/bin/dpkg";
            APT::Sandbox::User "";

            """
        for (path, text) in [("try/DEBIAN/control", control), ("apt.conf", settings)] {
            try text.write(toFile: "\(home)/\(path)", atomically: true, encoding: .utf8)
        }
        #expect(try await Child.run("dpkg-deb", "-b", home + "/try", home + "/try.deb").code == 0)
        try note("bin/dpkg")
        _ = try install("/etc/apt/apt.conf.d/80alertq", as: "etc/apt.conf.d/80alertq")
        _ = try install("/usr/local/sbin/approve-packages")
        for button in ["no", "yes"] {
            let child = try start(
                ["apt-get", "install", "-y", home + "/try.deb"],
                environment: ["APT_CONFIG": home + "/apt.conf"])
            let question = try await answer(button)
            let message = question["message"] as? String
            #expect(message?.trimmingCharacters(in: .newlines) == "try.deb")
            let finished = await child.finish()
            #expect(finished.code == (button == "yes" ? 0 : 100), "\(finished)")
            let isUnpacked = called.contains { $0.contains("--unpack") }
            #expect(isUnpacked == (button == "yes"), "\(called)")
        }
    }

    @Test("A backup is made, and old ones are removed after a yes", .enabled(if: has("restic")))
    func backup() async throws {
        let home = queue.directory
        let script = try install("/usr/local/sbin/backup-home")
        let text = try String(contentsOfFile: script, encoding: .utf8)
        _ = try queue.script("backup", text.replacing("/home", with: home + "/data"))
        try FileManager.default.createDirectory(
            atPath: home + "/data", withIntermediateDirectories: true)
        try "secret".write(toFile: home + "/password", atomically: true, encoding: .utf8)
        let environment = [
            "RESTIC_REPOSITORY": home + "/repository", "RESTIC_PASSWORD_FILE": home + "/password",
            "RESTIC_CACHE_DIR": home + "/cache",
        ]
        func restic(_ words: String...) async throws -> Finished {
            await (try start(["restic"] + words, environment: environment)).finish()
        }
        #expect(try await restic("init").code == 0)
        for (button, kept) in [("no", 1), ("no", 2), ("yes", 1)] {
            let child = try start([home + "/backup"], environment: environment)
            let message = try await answer(button)["message"] as? String
            #expect(message?.contains("keep 1 snapshots") == true, "\(message ?? "-")")
            let finished = await child.finish()
            #expect(finished.code == 0 && finished.errors == "", "\(finished)")
            let list = try await restic("snapshots", "--json").output
            #expect(list.matches(of: /"short_id"/).count == kept, "\(list)")
        }
    }

    @Test(
        "A play deploys to all hosts after one yes, ends after a no, and fails without an answer",
        .enabled(if: has("ansible-playbook")))
    func ansible() async throws {
        let home = queue.directory
        let play = try install("deploy.yml")
        let python = "ansible_connection=local ansible_python_interpreter=/usr/bin/python3"
        try "[web]\na \(python)\nb \(python)\n[all:vars]\n".write(
            toFile: home + "/hosts", atomically: true, encoding: .utf8)
        func start(_ version: String) throws -> Child {
            try self.start(
                [
                    "ansible-playbook", "-i", home + "/hosts", "-e", "version=\(version)", play,
                ],
                environment: [
                    "ANSIBLE_LOCALHOST_WARNING": "false", "LC_ALL": "C.UTF-8",
                    "ANSIBLE_LOCAL_TEMP": home + "/tmp", "ANSIBLE_REMOTE_TEMP": home + "/tmp",
                ])
        }
        let first = try start("1")
        #expect(try await answer("no")["title"] as? String == "Deploy 1 to a, b?")
        let no = await first.finish()
        #expect(no.code == 0 && called == [], "\(no)")
        let second = try start("2")
        try await answer("yes")
        let yes = await second.finish()
        #expect(yes.code == 0 && called == ["deploy 2", "deploy 2"], "\(yes)")
        // It gets the answer that was given.
        let again = await (try start("2")).finish()
        #expect(again.code == 0 && called.count == 4, "\(again)")
        let third = try start("3")
        #expect(try await eventually { try await !queue.objects("list").isEmpty })
        #expect(try await queue.run("withdraw", "3").code == 0)
        #expect(await third.finish().code == 2 && called.count == 4)
    }

    @Test("A target of make waits for a yes", .enabled(if: has("make")))
    func make() async throws {
        let file = try install("Makefile")
        try note("deploy")
        for (button, code) in [("no", 2), ("yes", 0)] as [(String, Int32)] {
            let child = try start(["make", "-C", queue.directory, "VERSION=7"])
            #expect(try await answer(button)["title"] as? String == "Deploy 7?")
            let finished = await child.finish()
            #expect(finished.code == code, "\(finished)")
            #expect(called == (button == "yes" ? ["deploy 7"] : []))
            guard button == "no" else { continue }
            let article = try CodeBlock.text(of: Self.article)
            let error = try #require(article.firstMatch(of: /`(make: \*\*\* .*)`/)).1
            #expect(finished.errors.contains(error), "\(finished)")
        }
        #expect(FileManager.default.fileExists(atPath: file))
    }

    @Test("git pushes to main after a yes, and other branches at once", .enabled(if: has("git")))
    func git() async throws {
        let home = queue.directory
        let script = """
            cd "$HOME" && git init -q --bare there && git init -q -b main here && cd here &&
            git remote add origin ../there && git commit -q --allow-empty -m One
            """
        let identity = [
            "GIT_AUTHOR_NAME": "Ana", "GIT_AUTHOR_EMAIL": "ana@example.org",
            "GIT_COMMITTER_NAME": "Ana", "GIT_COMMITTER_EMAIL": "ana@example.org",
            "GIT_CONFIG_NOSYSTEM": "1",
        ]
        #expect(await (try start(["sh", "-c", script], environment: identity)).exit() == 0)
        _ = try install(".git/hooks/pre-push", as: "here/.git/hooks/pre-push")
        func push(_ words: String...) throws -> Child {
            try start(["git", "-C", home + "/here", "push", "-q", "origin"] + words)
        }
        #expect(await (try push("main:side")).exit() == 0)
        let last = ["git", "-C", home + "/there", "log", "-1", "--format=%s", "main"]
        for (button, code) in [("no", 1), ("yes", 0)] as [(String, Int32)] {
            let child = try push("main")
            let question = try await answer(button)
            #expect(question["title"] as? String == "Push main to origin?")
            #expect(await child.exit() == code)
            #expect(await (try start(last)).finish().output == (code == 0 ? "One\n" : ""))
        }
        let deletion = try push("--delete", "main")
        #expect((try await answer("no")["message"] as? String)?.hasPrefix("This deletes") == true)
        #expect(await deletion.exit() == 1)
    }

    // MARK: - Reading

    @Test(
        "Each line that reads the answers prints what it says",
        .enabled(if: has("jq", "faketime")))
    func reading() async throws {
        let text = try #require(
            try CodeBlock.all("shell", in: Self.article)
                .first { $0.text.contains("alertq history") }
        ).text
        for words in [
            ["ask", "Go on?", "-b", "yes=Yes", "--cancel", "no=No", "--detach", "--source", "job"],
            ["ask", "Unseen?", "-b", "OK", "--detach", "--timeout", "1ms", "--source", "job"],
        ] { #expect(try await queue.start(words).finish().code == 0) }
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.objects("history").count == 2)
        #expect(try await queue.run("notify", "Waits").code == 0)
        let old = ["faketime", "-f", "-2h", CommandLineQueue.program, "notify", "Waits for long"]
        #expect(await (try start(old)).exit() == 0)
        let expected = [
            /[0-9TZ:.-]+\t\S+\tyes\tGo on\?\n/, /2 Unseen\?\n/, /4 Waits for long\n/,
            /alertq: 0 of 2\njob: 1 of 2\n/, /[0-9.]+\n/, /(?:)/,
        ]
        let lines = text.split(separator: "\n\n").map(String.init)
        try #require(lines.count == expected.count)
        for (line, output) in zip(lines, expected) {
            let script = "cd && " + line.replacing(/(?m)^#.*\n/, with: "")
            let finished = await (try start(["dash", "-c", script])).finish()
            #expect(finished.code == 0 && finished.errors == "", "\(line): \(finished)")
            let isRight = finished.output.wholeMatch(of: output) != nil
            #expect(isRight, "\(line): \(finished.output)")
        }
        let table = try String(contentsOfFile: queue.directory + "/decisions.csv", encoding: .utf8)
        #expect(table.matches(of: /\r\n/).count == 2 && table.contains(",yes,"), "\(table)")
    }

    @Test("Every script is right for any POSIX shell", .enabled(if: has("shellcheck")))
    func syntax() async throws {
        let scripts = try CodeBlock.all("shell", in: Self.article)
        #expect(scripts.count >= 5)
        for (number, script) in scripts.enumerated() {
            let file = "\(queue.directory)/script-\(number).sh"
            try script.text.write(toFile: file, atomically: true, encoding: .utf8)
            let checked = try await Child.run("shellcheck", "--shell=sh", file)
            #expect(checked.code == 0, "\(checked.output)")
        }
    }
}
