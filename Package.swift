// swift-tools-version: 6.2
// Noncopyable `inout` button lists: SE-0390. `nonisolated(nonsending)`: SE-0461.
import PackageDescription

let package = Package(
    name: "alertq",
    products: [
        .library(name: "AlertQueue", targets: ["AlertQueue"]),
        .library(name: "AlertPresenters", targets: ["AlertPresenters"]),
        .library(name: "AlertQueueTesting", targets: ["AlertQueueTesting"]),
        .executable(name: "alertq", targets: ["alertq"]),
    ],
    targets: [
        // Declarations of libraries that are found at run time: nothing is linked, or needed to build.
        .systemLibrary(name: "CMicroHTTPD"),
        .systemLibrary(name: "CSystemd"),
        .systemLibrary(name: "CPostgreSQL"),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CArguments"),
        .target(name: "CSlowDisk"),
        .target(name: "CBaselines", dependencies: ["CSQLite"]),
        .target(name: "Linux", dependencies: ["CLinux"]),
        // What databases that speak SQL have in common, without a word about alerts.
        .target(name: "SQL"),
        .target(name: "SQLite", dependencies: ["CSQLite", "SQL"]),
        .target(
            name: "PostgreSQL",
            dependencies: ["CLinux", "CPostgreSQL", "Linux", "SQL"]),
        .target(
            name: "Migrations", path: "Migrations",
            resources: [
                .embedInCode("SQLite/0001_create_queue.sql"),
                .embedInCode("SQLite/schema.sql"),
                .embedInCode("PostgreSQL/0002_create_queues.sql"),
                .embedInCode("PostgreSQL/schema.jsonl"),
            ]),
        // Without a word about alerts, too.
        .target(name: "HTTP", dependencies: ["CMicroHTTPD", "Linux"]),
        .target(name: "TextFormats"),
        .target(name: "AlertCore", dependencies: ["Linux", "TextFormats"]),
        // Alerts and entries as rows, in whichever database.
        .target(name: "AlertTables", dependencies: ["AlertCore", "SQL", "TextFormats"]),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "AlertCore", "AlertTables", "CLinux", "Linux", "Migrations", "SQLite",
                "TextFormats",
            ]),
        .target(
            name: "PostgreSQLStore",
            dependencies: [
                "AlertCore", "AlertTables", "Linux", "Migrations", "PostgreSQL", "TextFormats",
            ]),
        // A connection to a service of ours, a store like the others.
        .target(name: "ServiceStore", dependencies: ["AlertCore", "Linux"]),
        .target(
            name: "AlertQueue",
            dependencies: [
                "AlertCore", "AlertTables", "Linux", "PostgreSQLStore", "SQLiteStore",
                "ServiceStore",
            ]),
        .target(
            name: "AlertService",
            dependencies: ["AlertCore", "CLinux", "HTTP", "Linux", "TextFormats"],
            resources: [.embedInCode("API/openapi.json")]),
        .target(
            name: "AlertPresenters",
            dependencies: ["AlertCore", "CLinux", "CSystemd", "Linux", "TextFormats"]),
        .target(name: "AlertAgents", dependencies: ["AlertQueue", "Linux", "TextFormats"]),
        .target(name: "AlertQueueTesting", dependencies: ["AlertCore", "TextFormats"]),
        .executableTarget(
            name: "alertq",
            dependencies: [
                "AlertAgents", "AlertPresenters", "AlertQueue", "AlertService", "CArguments",
                "CLinux",
                "Linux", "TextFormats",
            ]),
        .executableTarget(
            name: "alertq-bench",
            dependencies: [
                "AlertPresenters", "AlertQueue", "AlertService", "CBaselines", "CSlowDisk", "Linux",
                "Migrations", "PostgreSQL", "PostgreSQLStore", "SQLite", "SQLiteStore",
                "TextFormats",
            ]),
        .testTarget(name: "SQLiteTests", dependencies: ["CSQLite", "SQLite", "TestSupport"]),
        // Servers of their own, and connections that break.
        .target(
            name: "PostgreSQLTesting",
            dependencies: ["CLinux", "Linux", "PostgreSQL", "TestSupport"],
            path: "Tests/PostgreSQLTesting"),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: ["CLinux", "Linux", "PostgreSQL", "PostgreSQLTesting", "TestSupport"]),
        .testTarget(
            name: "PostgreSQLStoreTests",
            dependencies: [
                "AlertCore", "AlertQueueTesting", "AlertTables", "PostgreSQL",
                "PostgreSQLStore", "PostgreSQLTesting", "StoreChecks", "StoreTesting",
                "TestSupport",
                "TextFormats",
            ]),
        .testTarget(name: "TextFormatsTests", dependencies: ["TestSupport", "TextFormats"]),
        .testTarget(
            name: "AlertCoreTests",
            dependencies: [
                "AlertCore", "AlertQueueTesting", "Linux", "StoreChecks", "StoreTesting",
                "TestSupport",
                "TextFormats",
            ]),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "AlertCore", "AlertQueueTesting", "AlertTables", "CLinux", "Linux", "Migrations",
                "SQLite",
                "SQLiteStore", "StoreChecks", "StoreTesting", "TestSupport", "TextFormats",
            ],
            exclude: ["Log/verify.py"]),
        // The manager on the store that users have, and the contract of all stores.
        .testTarget(
            name: "AlertQueueTests",
            dependencies: [
                "AlertCore", "AlertQueue", "AlertQueueTesting", "AlertTables", "CLinux", "Linux",
                "PostgreSQLTesting", "SQLite", "SQLiteStore", "ServiceTesting", "StoreChecks",
                "StoreServer", "StoreTesting", "TestSupport", "TextFormats",
            ]),
        .testTarget(
            name: "AlertPresentersTests",
            dependencies: [
                "AlertCore", "AlertPresenters", "AlertQueue", "AlertQueueTesting", "CLinux",
                "TestSupport", "TextFormats",
            ]),
        .testTarget(
            name: "AlertAgentsTests",
            dependencies: [
                "AlertAgents", "AlertQueue", "ProcessTesting", "TestSupport", "TextFormats",
            ],
            exclude: ["Hooks"]),
        .testTarget(
            name: "AlertQueueTestingTests",
            dependencies: ["AlertQueue", "AlertQueueTesting", "ProcessTesting", "TestSupport"]),
        // Programs that know the public library alone.
        .testTarget(
            name: "Ports",
            dependencies: ["AlertQueue", "AlertQueueTesting", "StoreTesting", "TestSupport"],
            path: "Tests/Ports", packageAccess: false),
        .testTarget(
            name: "alertqTests",
            dependencies: [
                "alertq", "AlertPresenters", "AlertQueue", "AlertQueueTesting", "ProcessTesting",
                "SQLite", "TestSupport", "TextFormats",
            ],
            exclude: ["Help"]),
        // What tests need of the system, without a word about alerts.
        .target(
            name: "TestSupport", dependencies: ["CLinux", "Linux"], path: "Tests/TestSupport"),
        // The promises of every store, as checks, and the comparison of stores by random steps.
        .target(
            name: "StoreChecks", dependencies: ["AlertCore", "AlertQueueTesting", "TextFormats"],
            path: "Tests/StoreChecks"),
        // Queues that tests work on without a manager.
        .target(
            name: "StoreTesting",
            dependencies: [
                "AlertCore", "AlertQueueTesting", "AlertTables", "PostgreSQL", "PostgreSQLStore",
                "PostgreSQLTesting", "SQL", "SQLite", "SQLiteStore", "StoreChecks", "TestSupport",
            ],
            path: "Tests/StoreTesting"),
        // Services whose connections break, and which are killed, for the contract's checks.
        .target(
            name: "ServiceTesting",
            dependencies: [
                "AlertCore", "AlertQueueTesting", "AlertService", "Linux", "ServiceStore",
                "TestSupport",
            ],
            path: "Tests/ServiceTesting"),
        .executableTarget(
            name: "StoreServer",
            dependencies: [
                "AlertCore", "AlertService", "PostgreSQLStore", "SQLiteStore", "ServiceTesting",
                "StoreChecks",
            ],
            path: "Tests/StoreServer"),
        // The built command, and queues that it works on.
        .target(
            name: "ProcessTesting", dependencies: ["alertq", "Linux", "TestSupport"],
            path: "Tests/ProcessTesting"),
        .executableTarget(
            name: "QueueClient", dependencies: ["AlertQueue", "StoreChecks"],
            path: "Tests/QueueClient"),
        .executableTarget(
            name: "RestartDaemon", dependencies: ["AlertQueue"],
            path: "Tests/Examples/RestartDaemon"),
        .executableTarget(
            name: "TidyDaemon", dependencies: ["AlertQueue"], path: "Tests/Examples/TidyDaemon"),
        .testTarget(
            name: "EndToEnd",
            dependencies: [
                "AlertQueueTesting", "AlertService", "PostgreSQL", "PostgreSQLTesting",
                "ProcessTesting", "RestartDaemon", "TestSupport", "TidyDaemon", "CLinux", "Linux",
                "TextFormats",
            ],
            exclude: [
                "Agents/agent_tests.py",
                "Agents/agent_world.py",
                "Agents/chuk_tests.py",
                "Agents/fake_model.py",
                "Agents/fastmcp_tests.py",
                "Agents/old_sdk_tests.py",
                "Agents/real_agents.py",
                "Agents/sdk_tests.py",
                "Agents/tap.py",
                "Audit/verify_export.py", "Audit/verify_receipt.py",
                "Audit/forge.py",
            ]),
        .testTarget(
            name: "Faults",
            dependencies: [
                "AlertCore", "AlertQueue", "AlertQueueTesting", "PostgreSQL", "PostgreSQLTesting",
                "ProcessTesting", "QueueClient", "SQLite", "SQLiteStore", "StoreChecks",
                "TestSupport",
                "TextFormats", "TidyDaemon", "CLinux",
            ],
            exclude: ["PowerLoss/journal.c", "PowerLoss/plain.c"]),
        .testTarget(
            name: "alertq-benchTests",
            dependencies: [
                "alertq-bench", "ProcessTesting", "SQLite", "SQLiteStore", "TestSupport",
            ]),
        .testTarget(name: "TidyTests", dependencies: ["Migrations", "TestSupport"]),
    ]
)

// For `.ci/fuzz` alone: a fuzzer, and the command's verbs as a library that it links.
if Context.environment["ALERTQ_FUZZ"] != nil {
    package.products.removeAll { $0.name == "alertq" }
    package.targets.removeAll { $0.name == "alertq" }
    package.targets += [
        .target(
            name: "alertq",
            dependencies: [
                "AlertAgents", "AlertPresenters", "AlertQueue", "AlertService", "CArguments",
                "CLinux",
                "Linux", "TextFormats",
            ],
            exclude: ["main.swift"]),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "AlertAgents", "AlertCore", "AlertPresenters", "AlertQueue", "AlertTables", "Linux",
                "Migrations", "SQLite",
                "SQLiteStore", "TextFormats", "alertq",
            ],
            path: "Tests/Fuzz", exclude: ["Seeds"]),
    ]
}

// For `.ci/run`: the flag of the compiler would be another build.
if Context.environment["ALERTQ_WARNINGS_ARE_ERRORS"] != nil {
    for target in package.targets where target.type != .system {
        target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
        target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error)]
    }
}
