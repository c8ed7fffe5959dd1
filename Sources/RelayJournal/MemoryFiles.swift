// SPDX-License-Identifier: MIT

/// A tree of files in memory: a disk that can be looked at, changed behind a journal's back, and
/// cut off from its power.
///
/// Directories are paths; all of them share one lock. Nothing survives the process.
package final class MemoryFiles: Sendable {
  struct Node {
    var bytes: [UInt8] = []
    /// What is left after a power cut; nil if the file was never synced.
    var synced: [UInt8]?
    /// How many names it has: one or none.
    var isUnlinked = false
    /// The opening that holds the lock.
    var holder: Int?
  }

  struct State {
    var nodes: [UInt64: Node] = [:]
    var names: [String: UInt64] = [:]
    var directories: Set<String> = ["/"]
    var syncedNames: [String: UInt64] = [:]
    var openings: [Int: UInt64] = [:]
    var nextNode: UInt64 = 1
    var nextOpening = 3
  }

  let state = Lock(State())

  /// Makes an empty tree.
  package init() {}

  /// The paths of all files, sorted.
  package var paths: [String] { state.withLock { $0.names.keys.sorted() } }

  /// A file's bytes; nil if there is none. Setting nil removes it; who has it open keeps it.
  package subscript(_ path: String) -> [UInt8]? {
    get { state.withLock { state in state.names[path].flatMap { state.nodes[$0]?.bytes } } }
    set {
      state.withLock { state in
        guard let newValue else { return state.unlink(path) }
        var node = state.names[path]
        if node == nil { node = state.makeNode(path) }
        if let node { state.nodes[node]?.bytes = newValue }
      }
    }
  }

  /// Removes a directory with all that is in it; who has a file open keeps it.
  package func removeDirectory(_ path: String) {
    state.withLock { state in
      for name in state.names.keys where name.hasPrefix(path + "/") { state.unlink(name) }
      state.directories = state.directories.filter { $0 != path && !$0.hasPrefix(path + "/") }
    }
  }

  /// What the death of all processes does: files are closed and locks are free.
  package func closeAll() {
    state.withLock { state in
      for opening in state.openings.keys { state.close(opening) }
    }
  }

  /// What a power cut does: closes all, and what was not synced is gone.
  package func losePower() {
    state.withLock { state in
      for opening in state.openings.keys { state.close(opening) }
      state.names = state.syncedNames
      let kept = Set(state.names.values)
      state.nodes = state.nodes.filter { kept.contains($0.key) }
      state.nodes = state.nodes.mapValues { node in
        Node(bytes: node.synced ?? [], synced: node.synced)
      }
    }
  }

  /// Another tree with the same files, closed.
  package func copy() -> MemoryFiles {
    let other = MemoryFiles()
    let mine = state.withLock { $0 }
    other.state.withLock { $0 = mine }
    other.closeAll()
    return other
  }
}

extension MemoryFiles.State {
  mutating func makeNode(_ path: String) -> UInt64 {
    let node = nextNode
    nextNode += 1
    nodes[node] = MemoryFiles.Node()
    names[path] = node
    return node
  }

  mutating func unlink(_ path: String) {
    guard let node = names.removeValue(forKey: path) else { return }
    nodes[node]?.isUnlinked = true
    free(node)
  }

  mutating func close(_ opening: Int) {
    guard let node = openings.removeValue(forKey: opening) else { return }
    if nodes[node]?.holder == opening { nodes[node]?.holder = nil }
    free(node)
  }

  private mutating func free(_ node: UInt64) {
    guard nodes[node]?.isUnlinked == true, !openings.values.contains(node),
      !syncedNames.values.contains(node)
    else { return }
    nodes[node] = nil
  }
}

extension FileSystem {
  /// A disk in memory, empty and nobody else's.
  public static func memory() -> FileSystem { MemoryFiles().fileSystem }
}

extension MemoryFiles {
  /// The tree as a file system.
  package var fileSystem: FileSystem {
    FileSystem(
      makeDirectory: { path throws(JournalError) in
        let isFile = self.state.withLock { state in
          if state.names[path] != nil { return true }
          var path = path[...]
          while !path.isEmpty, state.directories.insert(String(path)).inserted {
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
          }
          return false
        }
        if isFile { throw JournalError(.wrongKind, operation: "make", file: path) }
      },
      open: { path, mode throws(JournalError) in try self.open(path, mode) },
      close: { file in self.state.withLock { $0.close(file.number) } },
      read: { file, offset, buffer throws(JournalError) in
        // Safe: the buffer is only written within its own bounds, before the lock is left.
        nonisolated(unsafe) let buffer = buffer
        return try self.change(file, "read") { node in
          guard offset < node.bytes.count else { return 0 }
          let count = min(buffer.count, node.bytes.count - offset)
          node.bytes.withUnsafeBytes { bytes in
            buffer.copyMemory(
              from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
          }
          return count
        }
      },
      write: { file, offset, bytes throws(JournalError) in
        nonisolated(unsafe) let bytes = bytes
        return try self.change(file, "write") { node in
          let end = offset + bytes.count
          if node.bytes.count < offset {
            node.bytes += [UInt8](repeating: 0, count: offset - node.bytes.count)
          }
          if node.bytes.count == offset {
            node.bytes.append(contentsOf: bytes)
          } else {
            node.bytes.replaceSubrange(offset..<min(end, node.bytes.count), with: bytes)
          }
          return bytes.count
        }
      },
      sync: { file throws(JournalError) in
        try self.change(file, "sync") { $0.synced = $0.bytes }
      },
      truncate: { file, size throws(JournalError) in
        try self.change(file, "truncate") { node in
          if size < node.bytes.count {
            node.bytes.removeLast(node.bytes.count - size)
          } else {
            node.bytes += [UInt8](repeating: 0, count: size - node.bytes.count)
          }
        }
      },
      status: { file throws(JournalError) in
        guard let number = self.state.withLock({ $0.openings[file.number] }) else {
          throw JournalError(.inputOutput, operation: "look at")
        }
        return try self.change(file, "look at") { node in node.status(number) }
      },
      statusOfPath: { path throws(JournalError) in
        self.state.withLock { state in
          if let number = state.names[path] { return state.nodes[number]?.status(number) }
          guard state.directories.contains(path) else { return nil }
          return FileStatus(
            size: 0, identity: FileIdentity(device: 0, number: 0), isDirectory: true,
            isUnlinked: false)
        }
      },
      rename: { from, to throws(JournalError) in
        let isThere = self.state.withLock { state in
          guard let node = state.names[from], state.directories.contains(MemoryFiles.parent(to))
          else { return false }
          if from == to { return true }
          state.unlink(to)
          state.names[from] = nil
          state.names[to] = node
          return true
        }
        if !isThere { throw JournalError(.notFound, operation: "rename", file: from) }
      },
      remove: { path throws(JournalError) in
        let isEmpty = self.state.withLock { state in
          state.unlink(path)
          guard state.directories.contains(path) else { return true }
          guard !state.names.keys.contains(where: { $0.hasPrefix(path + "/") }) else {
            return false
          }
          state.directories.remove(path)
          return true
        }
        if !isEmpty { throw JournalError(.inputOutput, operation: "remove", file: path) }
      },
      list: { path throws(JournalError) in
        let names: [String]? = self.state.withLock { state in
          guard state.directories.contains(path) else { return nil }
          let files = state.names.keys.filter { MemoryFiles.parent($0) == path }
          let directories = state.directories.filter { MemoryFiles.parent($0) == path }
          return (files + directories).map { String($0.dropFirst(path.count + 1)) }
        }
        guard let names else { throw JournalError(.notFound, operation: "list", file: path) }
        return names
      },
      lock: { file throws(JournalError) in
        try self.change(file, "lock") { node in
          guard node.holder == nil || node.holder == file.number else { return false }
          node.holder = file.number
          return true
        }
      },
      unlock: { file throws(JournalError) in
        try self.change(file, "unlock") { node in
          if node.holder == file.number { node.holder = nil }
        }
      },
      syncDirectory: { path throws(JournalError) in
        self.state.withLock { state in
          state.syncedNames = state.syncedNames.filter { MemoryFiles.parent($0.key) != path }
          for (name, node) in state.names where MemoryFiles.parent(name) == path {
            state.syncedNames[name] = node
          }
        }
      })
  }

  private func open(_ path: String, _ mode: OpenMode) throws(JournalError) -> OpenFile {
    let number: Int? = state.withLock { state in
      var node = state.names[path]
      if node == nil, mode == .creating || mode == .replacing,
        state.directories.contains(MemoryFiles.parent(path))
      {
        node = state.makeNode(path)
      }
      guard let node else { return nil }
      if mode == .replacing { state.nodes[node]?.bytes = [] }
      defer { state.nextOpening += 1 }
      state.openings[state.nextOpening] = node
      return state.nextOpening
    }
    guard let number else { throw JournalError(.notFound, operation: "open", file: path) }
    return OpenFile(number: number)
  }

  private func change<Result: Sendable>(
    _ file: OpenFile, _ operation: String, _ body: (inout Node) -> Result
  ) throws(JournalError) -> Result {
    let result: Result? = state.withLock { state in
      guard let number = state.openings[file.number], state.nodes[number] != nil else { return nil }
      return body(&state.nodes[number]!)
    }
    guard let result else { throw JournalError(.inputOutput, operation: operation) }
    return result
  }

  private static func parent(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}

extension MemoryFiles.Node {
  fileprivate func status(_ number: UInt64) -> FileStatus {
    FileStatus(
      size: bytes.count, identity: FileIdentity(device: 1, number: number), isDirectory: false,
      isUnlinked: isUnlinked)
  }
}
