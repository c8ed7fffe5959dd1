// SPDX-License-Identifier: MIT

import Foundation

/// The system's SQLite: looked for when the suite runs, so that the suite builds without it.
///
/// Safe: the signatures are those of the library's documented interface, which does not change; the
/// library stays loaded, and each database is used by one thread at a time.
enum SQLite {
  typealias Handle = OpaquePointer
  typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Int32
  typealias Execute =
    @convention(c) (
      Handle?, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
    ) -> Int32
  typealias Prepare =
    @convention(c) (
      Handle?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>, UnsafeRawPointer?
    ) -> Int32
  typealias Plain = @convention(c) (Handle?) -> Int32
  typealias BindInteger = @convention(c) (Handle?, Int32, Int64) -> Int32
  typealias BindBytes =
    @convention(c) (Handle?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32
  typealias Integer = @convention(c) (Handle?, Int32) -> Int64
  typealias Bytes = @convention(c) (Handle?, Int32) -> UnsafeRawPointer?
  typealias Count = @convention(c) (Handle?, Int32) -> Int32

  /// Safe to share: addresses of a library's functions, which stay where they are.
  struct Functions: @unchecked Sendable {
    let open: Open
    let close: Plain
    let execute: Execute
    let prepare: Prepare
    let step: Plain
    let reset: Plain
    let finalize: Plain
    let bindInteger: BindInteger
    let bindBytes: BindBytes
    let bindText: BindBytes
    let integer: Integer
    let bytes: Bytes
    let text: Bytes
    let count: Count
  }

  /// Nil where there is no such library.
  static let functions: Functions? = {
    for name in ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"] {
      if let library = dlopen(name, RTLD_NOW) { return Functions(library) }
    }
    return nil
  }()
}

extension SQLite.Functions {
  fileprivate init?(_ library: UnsafeMutableRawPointer) {
    func find<Function>(_ name: String, _ type: Function.Type) -> Function? {
      // Safe: each type is that of the function's declaration in the library's header.
      dlsym(library, "sqlite3_" + name).map { unsafeBitCast($0, to: type) }
    }
    guard let open = find("open", SQLite.Open.self), let close = find("close", SQLite.Plain.self),
      let execute = find("exec", SQLite.Execute.self),
      let prepare = find("prepare_v2", SQLite.Prepare.self),
      let step = find("step", SQLite.Plain.self), let reset = find("reset", SQLite.Plain.self),
      let finalize = find("finalize", SQLite.Plain.self),
      let bindInteger = find("bind_int64", SQLite.BindInteger.self),
      let bindBytes = find("bind_blob", SQLite.BindBytes.self),
      let bindText = find("bind_text", SQLite.BindBytes.self),
      let integer = find("column_int64", SQLite.Integer.self),
      let bytes = find("column_blob", SQLite.Bytes.self),
      let text = find("column_text", SQLite.Bytes.self),
      let count = find("column_bytes", SQLite.Count.self)
    else { return nil }
    self.init(
      open: open, close: close, execute: execute, prepare: prepare, step: step, reset: reset,
      finalize: finalize, bindInteger: bindInteger, bindBytes: bindBytes, bindText: bindText,
      integer: integer, bytes: bytes, text: text, count: count)
  }
}

/// A table of commands: what one would write instead of a journal, with prepared statements and one
/// transaction for each change.
final class SQLiteStore {
  enum Level: String {
    case normal = "NORMAL"
    case full = "FULL"
  }

  private let functions: SQLite.Functions
  private let database: SQLite.Handle?
  private let insertion: SQLite.Handle?
  private let deletion: SQLite.Handle?

  init?(path: String, _ level: Level) {
    guard let functions = SQLite.functions else { return nil }
    self.functions = functions
    var database: SQLite.Handle?
    guard functions.open(path, &database) == 0 else { return nil }
    self.database = database
    func execute(_ sql: String) {
      precondition(functions.execute(database, sql, nil, nil, nil) == 0)
    }
    execute("PRAGMA journal_mode=WAL")
    execute("PRAGMA synchronous=\(level.rawValue)")
    execute(
      """
      CREATE TABLE IF NOT EXISTS commands (id INTEGER PRIMARY KEY, run INTEGER, place INTEGER,
      name TEXT, feature TEXT, priority INTEGER, acceptedAt INTEGER, payload BLOB)
      """)
    func prepare(_ sql: String) -> SQLite.Handle? {
      var statement: SQLite.Handle?
      precondition(functions.prepare(database, sql, -1, &statement, nil) == 0)
      return statement
    }
    insertion = prepare("INSERT INTO commands VALUES (?,1,?,?,?,?,?,?)")
    deletion = prepare("DELETE FROM commands WHERE id = ?")
  }

  deinit {
    for statement in [insertion, deletion] { _ = functions.finalize(statement) }
    _ = functions.close(database)
  }

  func execute(_ sql: String) {
    precondition(functions.execute(database, sql, nil, nil, nil) == 0)
  }

  func insert(_ id: Int64, _ payload: [UInt8]) {
    let text = Sample.name, feature = Sample.group
    _ = functions.bindInteger(insertion, 1, id)
    _ = functions.bindInteger(insertion, 2, id)
    text.withCString { name in
      feature.withCString { group in
        _ = functions.bindText(insertion, 3, name, -1, nil)
        _ = functions.bindText(insertion, 4, group, -1, nil)
        _ = functions.bindInteger(insertion, 5, 1)
        _ = functions.bindInteger(insertion, 6, 1_700_000_000_000)
        payload.withUnsafeBytes { bytes in
          _ = functions.bindBytes(insertion, 7, bytes.baseAddress, Int32(bytes.count), nil)
          precondition(functions.step(insertion) == 101)
        }
      }
    }
    _ = functions.reset(insertion)
  }

  func delete(_ id: Int64) {
    _ = functions.bindInteger(deletion, 1, id)
    precondition(functions.step(deletion) == 101)
    _ = functions.reset(deletion)
  }

  /// Reads everything, as a restart would.
  func readAll(_ body: (Int64, String, String, [UInt8]) -> Void) {
    var statement: SQLite.Handle?
    let sql =
      "SELECT id, place, name, feature, priority, acceptedAt, payload FROM commands ORDER BY id"
    precondition(functions.prepare(database, sql, -1, &statement, nil) == 0)
    func text(_ column: Int32) -> String {
      guard let start = functions.text(statement, column) else { return "" }
      return String(cString: start.assumingMemoryBound(to: CChar.self))
    }
    while functions.step(statement) == 100 {
      let start = functions.bytes(statement, 6)
      let count = Int(functions.count(statement, 6))
      body(
        functions.integer(statement, 0), text(2), text(3),
        Array(UnsafeRawBufferPointer(start: start, count: count)))
    }
    _ = functions.finalize(statement)
  }
}
